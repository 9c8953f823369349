// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.opencl.OpenClQueue;
import java.io.EOFException;
import java.nio.file.Path;
import reactor.core.publisher.Mono;

/** OpenCL: a kernel of the application between a read and a write, ordered by its own cl_command_queue. */
public final class InOpenClQueue {

    private static final FileOption[] READ = {FileOption.READ};
    private static final FileOption[] NEW = {FileOption.WRITE, FileOption.CREATE_NEW};

    private InOpenClQueue() {}

    /** Enqueues work in the queue, as clEnqueueNDRangeKernel does. */
    interface Kernel {
        void enqueue(long clQueue, long clMem, long bytes);
    }

    /**
     * Emits the bytes that were written.
     *
     * @param backend a backend opencl-ssg in the queue's context: {@code penstock.opencl.context}
     */
    static Mono<Long> rewrite(Backend backend, Path source, Path target, long clQueue, Kernel kernel) {
        OpenClQueue queue = OpenClQueue.of(clQueue);
        return backend.withFile(
                source,
                READ,
                from -> backend.withFile(
                        target,
                        NEW,
                        to -> backend.withBuffer(
                                from.size(), buffer -> rewrite(backend, from, to, buffer, queue, kernel))));
    }

    private static Mono<Long> rewrite(
            Backend backend, StorageFile from, StorageFile to, DeviceBuffer buffer, OpenClQueue queue, Kernel kernel) {
        Transfer write = Transfer.write(buffer.all(), to.region(0, buffer.length()));
        return Backend.using(backend.enqueue(Transfer.read(from.all(), buffer.all())), read -> {
            queue.await(read); // what is enqueued from here on sees the bytes
            kernel.enqueue(queue.nativeHandle(), buffer.nativeHandle(), buffer.length());
            return Backend.using(Mono.fromSupplier(queue::fence), ran -> backend.submit(write.after(ran)))
                    .then(read.outcome()) // it may have failed, or found less
                    .map(Completion::bytes)
                    .filter(bytes -> bytes == buffer.length())
                    .switchIfEmpty(Mono.error(() -> new EOFException(from.path() + " became shorter")));
        });
    }
}
