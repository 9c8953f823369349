// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A thread that waits for a small copy, which is already enqueued: measured from the opening of the queue. */
final class OpenClWait implements Contender {

    private static final long LIMIT_SECONDS = 30;

    private final int count;
    private final Backend backend; // has the context
    private final OpenClMemory memory;
    private final OpenClGate gate;
    private final long target;
    private final ByteBuffer block = ByteBuffer.allocateDirect(OpenClSmallReads.BLOCK);
    private final ByteBuffer cell = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
    private final ExecutorService waiter = Executors.newSingleThreadExecutor();

    /**
     * Opens its resources.
     *
     * @param backend closed with this
     * @param count the number in one run
     */
    OpenClWait(Backend backend, int count) {
        this.count = count;
        this.backend = backend;
        memory = new OpenClMemory(backend);
        gate = new OpenClGate(memory);
        target = memory.buffer(OpenCl.CL_MEM_READ_WRITE, OpenClSmallReads.BLOCK);
    }

    @Override
    public String name() {
        return "clWaitForEvents on a thread";
    }

    @Override
    public Measure run(long nanos) throws Exception {
        return Measure.ofMedian(count, this::once);
    }

    private long once() throws Exception {
        gate.shut();
        long from = NativeMemory.address(block);
        long copied = NativeMemory.address(cell);
        OpenClMemory.check(
                "clEnqueueWriteBuffer",
                OpenCl.clEnqueueWriteBuffer(gate.queue, target, 0, 0, OpenClSmallReads.BLOCK, from, 0, 0, copied));
        OpenClMemory.check("clFlush", OpenCl.clFlush(gate.queue));
        CompletableFuture<Long> delivered = CompletableFuture.supplyAsync(
                () -> {
                    OpenClMemory.check("clWaitForEvents", OpenCl.clWaitForEvents(1, copied));
                    return System.nanoTime();
                },
                waiter);
        long opened = gate.open();
        long took = delivered.get(LIMIT_SECONDS, TimeUnit.SECONDS) - opened;
        OpenCl.clReleaseEvent(cell.getLong(0));
        gate.done();
        return took;
    }

    @Override
    public void close() {
        waiter.shutdown();
        gate.close();
        OpenCl.clReleaseMemObject(target);
        memory.close();
        backend.close();
    }
}
