// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.ffi.LibC;
import io.penstock.engine.host.LinuxFile;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;

/**
 * The calls of a {@link CallQueue}, which block: cuFile's for memory of the GPU, the system's for slots, the driver's for
 * copies between the two.
 */
class BlockingCalls implements AutoCloseable {

    private final CuFileSession session;

    /** Takes over one use of the session's context. */
    BlockingCalls(CuFileSession session) {
        this.session = session;
    }

    /** Returns the bytes moved, or a negative result of {@link CuFileResults}. */
    long run(CallTask task) {
        int bound = session.context().bind();
        if (bound != CudaError.SUCCESS) {
            return CuFileResults.ofCuda(bound);
        }
        return switch (task.kind()) {
            case READ, WRITE -> task.request.memory() instanceof GpuMemory ? transfer(task) : slotTransfer(task);
            case COPY_IN, COPY_OUT -> copy(task);
            case SYNC -> CuFileResults.ofSystem(task.file().host().sync());
        };
    }

    private long transfer(CallTask task) {
        long result;
        do {
            result = once(task);
        } while (task.goesOn(result));
        session.ended(task, result);
        return task.total(result);
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

    private static long slotTransfer(CallTask task) {
        LinuxFile file = task.file().host();
        long address = task.request.hostAddress();
        return CuFileResults.ofSystem(
                task.kind() == Request.Kind.READ
                        ? file.read(task.request.fileOffset(), address, task.bytes)
                        : file.write(task.request.fileOffset(), address, task.bytes));
    }

    private static long copy(CallTask task) {
        PinnedSlot slot = (PinnedSlot) task.request.slot();
        long host = slot.hostAddress() + task.request.slotOffset();
        long device = task.gpuMemory().nativeHandle() + task.request.memoryOffset();
        boolean in = task.kind() == Request.Kind.COPY_IN;
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
        return result == CudaError.SUCCESS ? task.bytes : CuFileResults.ofCuda(result);
    }

    /** Returns what the negative result of a task means. */
    final NativeFailure failure(CallTask task) {
        String call = switch (task.kind()) {
            case READ -> "cuFileRead";
            case WRITE -> "cuFileWrite";
            case SYNC -> "fdatasync";
            case COPY_IN -> "cuMemcpyHtoDAsync";
            case COPY_OUT -> "cuMemcpyDtoHAsync";
        };
        return CuFileResults.failure(call, task.result, String.valueOf(task.thrown));
    }

    @Override
    public void close() {
        session.context().leave();
    }
}
