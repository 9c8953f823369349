// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;

/** A command queue gated by a user event: commands behind the event complete at a known time. */
final class OpenClGate implements AutoCloseable {

    private static final long SETTLE_NANOS = 500_000; // until the waiters are idle

    private final OpenClMemory memory;
    private final ByteBuffer cell = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
    final long queue;
    private long event; // of the gate, while it is shut

    OpenClGate(OpenClMemory memory) {
        this.memory = memory;
        queue = memory.queue();
    }

    /** Makes the queue wait from here on. */
    void shut() {
        int[] error = new int[1];
        event = OpenCl.clCreateUserEvent(memory.context, error);
        OpenClMemory.check("clCreateUserEvent", error[0]);
        cell.putLong(0, event);
        OpenClMemory.check(
                "clEnqueueBarrierWithWaitList",
                OpenCl.clEnqueueBarrierWithWaitList(queue, 1, NativeMemory.address(cell), 0));
    }

    /** Opens the queue, some time after the last command was enqueued, and returns when. */
    long open() throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(SETTLE_NANOS);
        long opened = System.nanoTime();
        OpenClMemory.check("clSetUserEventStatus", OpenCl.clSetUserEventStatus(event, OpenCl.CL_COMPLETE));
        return opened;
    }

    /** Releases the gate, once the commands behind it have completed. */
    void done() {
        OpenCl.clReleaseEvent(event);
    }

    @Override
    public void close() {
        OpenCl.clFinish(queue);
        OpenCl.clReleaseCommandQueue(queue);
    }
}
