// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.device;

import io.penstock.backend.dx11.ffi.Kernel32;
import io.penstock.engine.kit.DaemonThread;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.kit.fence.PolledFences;
import io.penstock.engine.kit.fence.Watched;
import io.penstock.engine.kit.staging.ExecutorPump;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/**
 * The one thread that calls a device's immediate context. It sleeps on a Windows event, which new work sets and, with
 * fences, the completion of a copy: a timed sleep would last for a tick of Windows's clock, up to 15 ms.
 */
public final class Dx11Executor {

    /** Between polls if completions do not set the event. */
    private static final int NAP_MILLIS = 1;

    /** Between polls if completions set the event; the device is checked for removal too. */
    private static final int SLEEP_MILLIS = 20;

    private static final long JOIN_MILLIS = 5_000;

    private final CopyCompletions ends;
    private final long event;
    private final ExecutorPump pump;
    private final DaemonThread thread;
    private final PolledFences watched = new PolledFences(); // the thread's
    private final Pause pause =
            new Pause().spins(64).yields(256); // between polls of copies; it sleeps on the Windows event

    private Dx11Executor(CopyCompletions ends, long event) {
        this.ends = ends;
        this.event = event;
        this.pump = new ExecutorPump(() -> Kernel32.SetEvent(event));
        this.thread = new DaemonThread("penstock-dx11", this::loop);
    }

    /** Starts the thread of a device. */
    static Dx11Executor start(CopyCompletions ends) {
        long event = Kernel32.CreateEventW(0, 0, 0, 0);
        if (event == 0) {
            throw Dx11Failure.unavailable("no event for the thread of a device: CreateEvent failed");
        }
        Dx11Executor executor = new Dx11Executor(ends, event);
        try {
            executor.thread.start();
        } catch (OutOfMemoryError e) { // the system permits no more threads
            Kernel32.CloseHandle(event);
            throw e;
        }
        return executor;
    }

    /** Returns the pump that copies are submitted to. */
    public ExecutorPump pump() {
        return pump;
    }

    /** Runs a task on the thread: at once on that thread, otherwise queued; returns false if it will not run. */
    public boolean execute(Runnable task) {
        if (Thread.currentThread() == thread) {
            task.run();
            return true;
        }
        try {
            pump.execute(task);
            return true;
        } catch (RejectedExecutionException closed) {
            return false;
        }
    }

    /**
     * Makes a call as {@link ExecutorPump#call} does; must not be called on the thread itself.
     *
     * @throws io.penstock.TransientStorageException if the thread does not begin with it in time: it is then not made
     */
    public int call(String request, Supplier<Integer> call) {
        try {
            return pump.call(request, "", call);
        } catch (RejectedExecutionException e) {
            throw new IllegalStateException("the thread of this device has ended", e);
        }
    }

    /**
     * Calls {@link Watched#poll} until a fence is signalled. An exception goes to the thread's handler of uncaught
     * exceptions, and ends that.
     */
    public void watch(Watched fence) {
        execute(() -> watched.add(fence));
    }

    private void loop() {
        while (true) {
            boolean last = pump.isClosed(); // read before the run, which does all work submitted before close()
            long before = pump.progress();
            boolean copies = pump.run(Long.MAX_VALUE);
            watched.poll();
            boolean more = watched.size() > 0 || copies;
            if (!more && last) {
                Kernel32.CloseHandle(event);
                return;
            } else if (!more) {
                pause.reset();
                if (!pump.isClosed()) { // pairs with close(), which sets the event if the pump is idle
                    Kernel32.WaitForSingleObject(event, Kernel32.INFINITE);
                }
            } else if (pump.progress() != before) {
                pause.reset();
            } else if (pause.next() > 0 && pump.announceWait()) {
                sleep(copies);
            }
        }
    }

    /** Copies or fences are in flight and there is no other work: new work sets the event. */
    private void sleep(boolean copies) {
        boolean rings = copies && watched.size() == 0 && ends.ring(event);
        Kernel32.WaitForSingleObject(event, rings ? SLEEP_MILLIS : NAP_MILLIS);
    }

    /**
     * Terminates the thread once all submitted work is done; waits for that, up to a bound, unless called on the
     * thread.
     *
     * @return true if the thread makes no further call
     */
    boolean end() {
        pump.close();
        if (Thread.currentThread() == thread) {
            return true;
        }
        return thread.awaitEnd(JOIN_MILLIS);
    }
}
