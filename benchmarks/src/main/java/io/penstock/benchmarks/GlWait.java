// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.backend.gl.ffi.Gl;
import io.penstock.benchmarks.ffi.GlFunctions;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A thread with its own context that waits for the application's drawing, or for a small copy behind it: measured from
 * the completion of the drawing.
 */
final class GlWait implements Contender {

    static final String FENCE = "glClientWaitSync on a thread";
    static final String COPY = "glClientWaitSync on a thread, behind a copy";

    private static final long LIMIT_SECONDS = 30;

    private final boolean copies;
    private final int count;
    private final GlGate gate = new GlGate();
    private final int source = GlMemoryCheck.buffer(GlSmallReads.BLOCK, 0);
    private final int target = GlMemoryCheck.buffer(GlSmallReads.BLOCK, 0);
    private final ExecutorService waiter = Executors.newSingleThreadExecutor();
    private final GlApplication context;

    /**
     * Creates its resources.
     *
     * @param application the application whose context is current on this thread
     * @param copies true to wait for a copy
     * @param count the number in one run
     */
    GlWait(GlApplication application, boolean copies, int count) throws Exception {
        this.copies = copies;
        this.count = count;
        Gl.glFinish(); // makes the buffers known to the other context
        context = waiter.submit(application::another).get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public String name() {
        return copies ? COPY : FENCE;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        return Measure.ofMedian(count, this::once);
    }

    private long once() throws Exception {
        long drawn = gate.shut();
        CompletableFuture<Long> delivered =
                CompletableFuture.supplyAsync(() -> copies ? copied(drawn) : passed(drawn), waiter);
        long at = delivered.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        long took = at - gate.opened();
        gate.done();
        return took;
    }

    private long copied(long drawn) {
        Gl.glWaitSync(drawn, 0, Gl.GL_TIMEOUT_IGNORED);
        Gl.glCopyNamedBufferSubData(source, target, 0, 0, GlSmallReads.BLOCK);
        long copied = Gl.glFenceSync(Gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        long at = passed(copied);
        Gl.glDeleteSync(copied);
        return at;
    }

    private static long passed(long fence) {
        int flush = GlFunctions.GL_SYNC_FLUSH_COMMANDS_BIT;
        int state = Gl.glClientWaitSync(fence, flush, TimeUnit.SECONDS.toNanos(LIMIT_SECONDS));
        long at = System.nanoTime();
        if (state != Gl.GL_ALREADY_SIGNALED && state != Gl.GL_CONDITION_SATISFIED) {
            throw new IllegalStateException("glClientWaitSync -> 0x" + Integer.toHexString(state));
        }
        return at;
    }

    @Override
    public void close() throws Exception {
        waiter.submit(context::close).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        waiter.shutdown();
        gate.close();
        GlMemoryCheck.delete(source);
        GlMemoryCheck.delete(target);
    }
}
