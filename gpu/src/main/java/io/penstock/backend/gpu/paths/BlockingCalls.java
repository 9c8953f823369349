// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.staged.CopyStreams;
import io.penstock.backend.gpu.staged.PinnedBuffer;
import io.penstock.engine.kit.CallThreads;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.io.IOException;

/**
 * The blocking calls of a {@link CallQueue}: the file API's for GPU memory, the system's for staging buffers, the driver's
 * for copies between the two.
 */
public class BlockingCalls implements CallThreads.Calls<CallTask>, AutoCloseable {

    private final GpuContext context;
    private final DriverApi driver;
    private final FileApi files;

    /** Takes over one use of a context. */
    BlockingCalls(GpuContext context, FileApi files) {
        this.context = context;
        this.driver = files.driver();
        this.files = files;
    }

    /** Executes a task's call, which has completed on return. */
    @Override
    public void make(CallTask task) throws IOException {
        int bound = context.bind();
        if (bound != DriverApi.SUCCESS) {
            task.fails(driver.failure(GpuContext.BIND, bound));
        } else if (task.request.isCopy()) {
            copy(task);
        } else if (task.asksOnly) {
            task.ask();
        } else if (CallTask.isOfFileApi(task.request)) {
            transfer(task);
        } else {
            system(task);
        }
    }

    @Override
    public void fail(CallTask task, Throwable cause) {
        Request request = task.request;
        boolean isSystem = !request.isCopy() && !CallTask.isOfFileApi(request);
        task.fails(isSystem ? HostFailure.of(request.kind(), cause) : HostFailure.of(call(task), cause));
    }

    private void transfer(CallTask task) {
        task.askLength();
        long count;
        do {
            count = once(task);
        } while (task.goesOn(count));
        if (count < 0) {
            NativeFailure failure = files.failureOfCount(task.kind() == Request.Kind.READ ? "read" : "write", count);
            task.file().handle().failed(failure);
            task.fails(failure);
        } else {
            task.ends(count);
        }
    }

    private long once(CallTask task) {
        long handle = task.file().handle().id();
        long base = task.base();
        long offset = task.offsetFrom(base);
        // errno belongs to this thread, and is valid only until its next native call.
        return task.kind() == Request.Kind.READ
                ? files.answer(files.read(handle, base, task.rest(), task.restOffset(), offset))
                : files.answer(files.write(handle, base, task.rest(), task.restOffset(), offset));
    }

    /** Staging buffers are read and written by system calls; syncs are too. */
    private static void system(CallTask task) throws IOException {
        HostFile file = task.file().host();
        Request request = task.request;
        long answer = switch (request.kind()) {
            case READ -> file.read(request.fileOffset(), request.hostAddress(), request.bytes());
            case WRITE -> file.write(request.fileOffset(), request.hostAddress(), request.bytes());
            case SYNC -> file.sync();
            case COPY_IN, COPY_OUT -> throw new IllegalStateException("a copy must be executed by the GPU");
        };
        if (answer < 0) {
            task.fails(HostFailure.of(request.kind(), answer));
        } else {
            task.ends(answer);
        }
    }

    private void copy(CallTask task) {
        PinnedBuffer staging = (PinnedBuffer) task.request.staging();
        long host = staging.hostAddress() + task.request.stagingOffset();
        long device = task.gpuMemory().nativeHandle() + task.request.memoryOffset();
        boolean in = task.request.isInward();
        long stream = in ? staging.streams().toGpu() : staging.streams().fromGpu();
        int result = in
                ? driver.memcpyHtoDAsync(device, host, task.bytes, stream)
                : driver.memcpyDtoHAsync(host, device, task.bytes, stream);
        if (result == DriverApi.SUCCESS) {
            result = CopyStreams.mark(driver, staging.event(), stream);
        }
        if (result == DriverApi.SUCCESS) {
            result = driver.eventSynchronize(staging.event()); // not the stream, where other copies follow this one
        }
        if (result != DriverApi.SUCCESS) {
            task.fails(driver.failureOf(call(task), result));
        } else {
            task.ends(task.bytes);
        }
    }

    /** Returns the name of the call for a task. */
    private String call(CallTask task) {
        return switch (task.kind()) {
            case READ -> files.call("read");
            case WRITE -> files.call("write");
            case SYNC -> "fdatasync";
            case COPY_IN -> driver.call("memcpyHtoDAsync");
            case COPY_OUT -> driver.call("memcpyDtoHAsync");
        };
    }

    FileApi files() {
        return files;
    }

    @Override
    public void close() {
        context.leave();
    }
}
