// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.DeviceFence;
import io.penstock.StreamPlan;
import io.penstock.backend.cufile.CudaStream;
import java.nio.file.Path;
import reactor.core.publisher.Mono;

/** CUDA: runs a kernel of the application over a file, in its own CUstream. No thread waits for the GPU. */
public final class InCudaStream {

    private InCudaStream() {}

    /** Enqueues work in the stream, as cuLaunchKernel does; the thread that calls it has no current context. */
    interface Kernel {
        void launch(long custream, long address, long bytes);
    }

    /**
     * Completes when the GPU has passed the kernel of the last chunk.
     *
     * @param backend a backend cufile
     * @param custream in the context of the backend, which by default is the primary one
     */
    static Mono<Void> run(Backend backend, Path path, long custream, Kernel kernel) {
        CudaStream stream = CudaStream.of(custream);
        return backend.stream(StreamPlan.of(path).chunkBytes(8 << 20).depth(3), chunk -> {
                    BufferRegion region = chunk.region();
                    kernel.launch(custream, region.buffer().nativeHandle() + region.offset(), chunk.length());
                    return chunk.releaseAfter(stream.fence()); // until then nothing is read into its memory
                })
                .then(Backend.using(Mono.fromSupplier(stream::fence), DeviceFence::signalled));
    }
}
