// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.opencl.cl.Info;
import io.penstock.backend.opencl.cl.OpenClDevice;
import io.penstock.backend.opencl.context.ContextChoice;
import io.penstock.backend.opencl.context.OpenClPlatforms;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A program that uses OpenCL itself, beside the backend: a context, a queue of its own, buffers, and commands that are
 * not run before the test says so.
 */
final class Application implements AutoCloseable {

    private final long context;
    private final long queue;
    private final long gate;
    private final ByteBuffer cells = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());
    private final long waitList = NativeMemory.address(cells);
    private final long eventCell = waitList + Long.BYTES;
    private boolean open;

    /** Starts one, in a context of its own, on the device that the backend chooses of itself. */
    Application() {
        this(OpenCl.CL_QUEUE_PROFILING_ENABLE);
    }

    /**
     * Starts one.
     *
     * @param properties of its queue
     */
    Application(long properties) {
        Options options = Options.none().resolve(Backends.options());
        OpenClDevice device =
                ContextChoice.of(options, OpenClPlatforms.find(options)).device();
        int[] error = new int[1];
        long[] platform = {OpenCl.CL_CONTEXT_PLATFORM, device.platform().handle(), 0};
        context = OpenCl.clCreateContext(platform, 1, new long[] {device.handle()}, 0, 0, error);
        assertThat(error[0]).isZero();
        queue = OpenCl.clCreateCommandQueue(context, device.handle(), properties, error);
        assertThat(error[0]).isZero();
        gate = OpenCl.clCreateUserEvent(context, error);
        assertThat(error[0]).isZero();
        cells.putLong(0, gate);
    }

    long context() {
        return context;
    }

    long queue() {
        return queue;
    }

    /** Returns an event that is passed when the gate opens. */
    long gate() {
        return gate;
    }

    /** Returns options by which a backend works in this program's context. */
    Options options() {
        return Options.none().with(OpenClOptions.CONTEXT, "0x" + Long.toHexString(context));
    }

    long buffer(long bytes, long flags) {
        int[] error = new int[1];
        long buffer = OpenCl.clCreateBuffer(context, flags, bytes, 0, error);
        assertThat(error[0]).isZero();
        return buffer;
    }

    /** Enqueues a copy from one buffer to another. */
    void copy(long target, long targetOffset, long source, long bytes) {
        assertThat(OpenCl.clEnqueueCopyBuffer(queue, source, target, 0, targetOffset, bytes, 0, 0, 0))
                .isZero();
        assertThat(OpenCl.clFlush(queue)).isZero();
    }

    /** Enqueues a copy that, with all behind it, is run when the gate opens. */
    void copyLate(long target, long targetOffset, long source, long bytes) {
        assertThat(OpenCl.clEnqueueCopyBuffer(queue, source, target, 0, targetOffset, bytes, 1, waitList, 0))
                .isZero();
        assertThat(OpenCl.clFlush(queue)).isZero();
    }

    /** Enqueues a marker that is passed when the gate opens, and returns its event, which the caller releases. */
    long markLate() {
        assertThat(OpenCl.clEnqueueMarkerWithWaitList(queue, 1, waitList, eventCell))
                .isZero();
        return cells.getLong(Long.BYTES); // not flushed: that is the backend's to think of
    }

    /** Has everything that waits for the gate run. */
    void openGate() {
        gate(OpenCl.CL_COMPLETE);
    }

    /** Has everything that waits for the gate run, or fail. */
    void gate(int status) {
        if (!open) {
            open = true;
            assertThat(OpenCl.clSetUserEventStatus(gate, status)).isZero();
        }
    }

    void finish() {
        assertThat(OpenCl.clFinish(queue)).isZero();
    }

    /** Returns how many hold the context. */
    int references() {
        return Info.context(context).number(OpenCl.CL_CONTEXT_REFERENCE_COUNT);
    }

    /** Returns how many hold a buffer. */
    static int references(long buffer) {
        return Info.memory(buffer).number(OpenCl.CL_MEM_REFERENCE_COUNT);
    }

    /** Returns how many hold an event. */
    static int eventReferences(long event) {
        return Info.event(event).number(OpenCl.CL_EVENT_REFERENCE_COUNT);
    }

    @Override
    public void close() {
        openGate();
        OpenCl.clFinish(queue);
        OpenCl.clReleaseEvent(gate);
        OpenCl.clReleaseCommandQueue(queue);
        OpenCl.clReleaseContext(context);
    }
}
