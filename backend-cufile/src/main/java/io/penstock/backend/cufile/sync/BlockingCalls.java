// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.sync;

import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.driver.CuFileFailure;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.backend.cufile.staged.CopyStreams;
import io.penstock.backend.cufile.staged.PinnedBuffer;
import io.penstock.engine.kit.CallThreads;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.io.IOException;

/**
 * The blocking calls of a {@link CallQueue}: cuFile's for GPU memory, the system's for staging buffers, the driver's
 * for copies between the two.
 */
public class BlockingCalls implements CallThreads.Calls<CallTask>, AutoCloseable {

    private final CudaContext context;

    /** Takes over one use of a context. */
    public BlockingCalls(CudaContext context) {
        this.context = context;
    }

    /** Executes a task's call, which has completed on return. */
    @Override
    public void make(CallTask task) throws IOException {
        int bound = context.bind();
        if (bound != CudaError.SUCCESS) {
            task.fails(CudaFailure.of(CudaContext.BIND, bound));
        } else if (task.request.isCopy()) {
            copy(task);
        } else if (task.asksOnly) {
            task.ask();
        } else if (CallTask.isOfCuFile(task.request)) {
            transfer(task);
        } else {
            system(task);
        }
    }

    @Override
    public void fail(CallTask task, Throwable cause) {
        Request request = task.request;
        boolean isSystem = !request.isCopy() && !CallTask.isOfCuFile(request);
        task.fails(isSystem ? HostFailure.of(request.kind(), cause) : HostFailure.of(call(task), cause));
    }

    private static void transfer(CallTask task) {
        task.askLength();
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
        // errno belongs to this thread, and is valid only until its next native call.
        return task.kind() == Request.Kind.READ
                ? LibC.orErrno(CuFile.cuFileRead(handle, base, task.rest(), task.restOffset(), offset))
                : LibC.orErrno(CuFile.cuFileWrite(handle, base, task.rest(), task.restOffset(), offset));
    }

    /** Staging buffers are read and written by system calls; syncs are too. */
    private static void system(CallTask task) throws IOException {
        HostFile file = task.file().host();
        Request request = task.request;
        long answer = switch (request.kind()) {
            case READ -> file.read(request.fileOffset(), request.hostAddress(), request.bytes());
            case WRITE -> file.write(request.fileOffset(), request.hostAddress(), request.bytes());
            case SYNC -> file.sync();
            case COPY_IN, COPY_OUT -> throw new IllegalStateException("a copy must be executed by CUDA");
        };
        if (answer < 0) {
            task.fails(HostFailure.of(request.kind(), answer));
        } else {
            task.ends(answer);
        }
    }

    private static void copy(CallTask task) {
        PinnedBuffer staging = (PinnedBuffer) task.request.staging();
        long host = staging.hostAddress() + task.request.stagingOffset();
        long device = task.gpuMemory().nativeHandle() + task.request.memoryOffset();
        boolean in = task.request.isInward();
        long stream = in ? staging.streams().toGpu() : staging.streams().fromGpu();
        int result = in
                ? Cuda.cuMemcpyHtoDAsync_v2(device, host, task.bytes, stream)
                : Cuda.cuMemcpyDtoHAsync_v2(host, device, task.bytes, stream);
        if (result == CudaError.SUCCESS) {
            result = CopyStreams.mark(staging.event(), stream);
        }
        if (result == CudaError.SUCCESS) {
            result = Cuda.cuEventSynchronize(staging.event()); // not the stream, where other copies follow this one
        }
        if (result != CudaError.SUCCESS) {
            task.fails(CudaFailure.of(call(task), result));
        } else {
            task.ends(task.bytes);
        }
    }

    /** Returns the name of the call for a task. */
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
