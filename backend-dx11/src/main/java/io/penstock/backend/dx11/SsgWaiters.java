// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import java.util.ArrayDeque;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The threads that wait for transfers of AMD's, each for one at a time: a wait blocks in the driver, and the manual wants
 * one for every transfer. As many calls as threads are in flight, so none waits to be waited for.
 *
 * <p><b>Threading:</b> the lane's, but for {@link #run}.
 */
final class SsgWaiters {

    private static final long IDLE_SECONDS = 10;

    private final ThreadPoolExecutor threads;
    private final ArrayDeque<SsgCall> free = new ArrayDeque<>();
    private final ConcurrentLinkedQueue<SsgCall> ended = new ConcurrentLinkedQueue<>();
    private final Runnable bell;

    SsgWaiters(SsgInterface ssg, SsgSizes sizes, Runnable bell) {
        this.bell = bell;
        int count = sizes.waiters();
        for (int i = 0; i < count; i++) {
            free.add(new SsgCall(ssg, sizes));
        }
        threads = new ThreadPoolExecutor(
                count, count, IDLE_SECONDS, TimeUnit.SECONDS, new ArrayBlockingQueue<>(count), SsgWaiters::thread);
        threads.allowCoreThreadTimeOut(true);
    }

    private static Thread thread(Runnable run) {
        Thread thread = new Thread(null, run, "penstock-dx11-wait", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        return thread;
    }

    /** Returns a call to be filled; null while all are in flight. */
    @Nullable
    SsgCall take() {
        return free.poll();
    }

    /** Gives back a call. */
    void give(SsgCall call) {
        free.push(call);
    }

    /** Has a call waited for; {@link #ended} returns it then. */
    void wait(SsgCall call) {
        threads.execute(() -> run(call));
    }

    private void run(SsgCall call) {
        call.await();
        ended.add(call);
        bell.run();
    }

    /** Returns a call that has ended, or null. */
    @Nullable
    SsgCall ended() {
        return ended.poll();
    }

    /** Ends the threads; nothing is in flight. */
    void close() {
        threads.shutdown();
    }
}
