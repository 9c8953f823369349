// SPDX-License-Identifier: Apache-2.0
package io.penstock.handover;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Transfer;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.lwjgl.PointerBuffer;
import org.lwjgl.cuda.CU;
import org.lwjgl.system.MemoryStack;
import org.lwjgl.system.MemoryUtil;
import reactor.core.publisher.Mono;

/** DJL: it always copies to its device; from pinned memory the driver copies without a buffer of its own. */
final class DjlMemory {

    private DjlMemory() {}

    /** Returns memory of the host that CUDA has pinned; {@code cuMemFreeHost} frees it. A context is current. */
    static ByteBuffer pinned(int bytes) {
        try (MemoryStack stack = MemoryStack.stackPush()) {
            PointerBuffer address = stack.mallocPointer(1);
            int result = CU.cuMemHostAlloc(address, bytes, CU.CU_MEMHOSTALLOC_PORTABLE);
            if (result != CU.CUDA_SUCCESS) {
                throw new IllegalStateException("cuMemHostAlloc -> " + result);
            }
            return MemoryUtil.memByteBuffer(address.get(0), bytes);
        }
    }

    /** Reads a file of floats into pinned memory, by the host backend, and copies it to the device of {@code manager}. */
    static Mono<NDArray> read(Backend host, Path path, ByteBuffer pinned, NDManager manager) {
        return host.withFile(
                path,
                FileOption.READ,
                file -> Mono.using(
                        () -> host.wrap(pinned),
                        memory -> host.submit(Transfer.read(file.region(0, memory.length()), memory.all()))
                                .map(done -> manager.create(pinned, new Shape(done.bytes() / 4), DataType.FLOAT32)),
                        DeviceBuffer::close));
    }
}
