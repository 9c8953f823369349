// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.sync;

import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.driver.CuFileFailure;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.backend.cufile.staged.CopyStreams;
import io.penstock.backend.cufile.staged.PinnedSlot;
import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.host.LinuxFile;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ffi.LibC;

/**
 * The calls of a {@link CallQueue}, which block: cuFile's for memory of the GPU, the system's for slots, the driver's for
 * copies between the two.
 */
public class BlockingCalls implements AutoCloseable {

    private final CudaContext context;

    /** Takes over one use of a context. */
    public BlockingCalls(CudaContext context) {
        this.context = context;
    }

    /** Makes the call of a task, which has ended on return. */
    void run(CallTask task) {
        int bound = context.bind();
        if (bound != CudaError.SUCCESS) {
            task.fails(CudaFailure.of(CudaContext.BIND, bound));
        } else if (task.request.isCopy()) {
            copy(task);
        } else if (CallTask.isOfCuFile(task.request)) {
            transfer(task);
        } else {
            system(task);
        }
    }

    private static void transfer(CallTask task) {
        long count;
        do {
            count = once(task);
        } while (task.goesOn(count));
        if (count < 0) {
            NativeFailure failure = CuFileFailure.ofCount(call(task), count);
            task.file().failed(failure);
            task.fails(failure);
        } else {
            task.ends(count);
        }
    }

    private static long once(CallTask task) {
        long handle = task.file().handle();
        long base = task.base();
        long offset = task.offsetFrom(base);
        // errno is this thread's, and good until its next native call only.
        return task.kind() == Request.Kind.READ
                ? LibC.orErrno(CuFile.cuFileRead(handle, base, task.rest(), task.restOffset(), offset))
                : LibC.orErrno(CuFile.cuFileWrite(handle, base, task.rest(), task.restOffset(), offset));
    }

    /** Slots are read and written by the system, and so is what is synced. */
    private static void system(CallTask task) {
        LinuxFile file = task.file().host();
        Request request = task.request;
        long answer = switch (request.kind()) {
            case READ -> file.read(request.fileOffset(), request.hostAddress(), request.bytes());
            case WRITE -> file.write(request.fileOffset(), request.hostAddress(), request.bytes());
            case SYNC -> file.sync();
            case COPY_IN, COPY_OUT -> throw new IllegalStateException("a copy is CUDA's");
        };
        if (answer < 0) {
            task.fails(BlockingBytes.INSTANCE.failure(request.kind(), answer));
        } else {
            task.ends(answer);
        }
    }

    private static void copy(CallTask task) {
        PinnedSlot slot = (PinnedSlot) task.request.slot();
        long host = slot.hostAddress() + task.request.slotOffset();
        long device = task.gpuMemory().nativeHandle() + task.request.memoryOffset();
        boolean in = task.request.isInward();
        long stream = in ? slot.streams().toGpu() : slot.streams().fromGpu();
        int result = in
                ? Cuda.cuMemcpyHtoDAsync_v2(device, host, task.bytes, stream)
                : Cuda.cuMemcpyDtoHAsync_v2(host, device, task.bytes, stream);
        if (result == CudaError.SUCCESS) {
            result = CopyStreams.mark(slot.event(), stream);
        }
        if (result == CudaError.SUCCESS) {
            result = Cuda.cuEventSynchronize(slot.event()); // not the stream, where others' copies come behind this one
        }
        if (result != CudaError.SUCCESS) {
            task.fails(CudaFailure.of(call(task), result));
        } else {
            task.ends(task.bytes);
        }
    }

    /** Returns the call that is made for a task. */
    static String call(CallTask task) {
        return switch (task.kind()) {
            case READ -> "cuFileRead";
            case WRITE -> "cuFileWrite";
            case SYNC -> "fdatasync";
            case COPY_IN -> "cuMemcpyHtoDAsync";
            case COPY_OUT -> "cuMemcpyDtoHAsync";
        };
    }

    @Override
    public void close() {
        context.leave();
    }
}
