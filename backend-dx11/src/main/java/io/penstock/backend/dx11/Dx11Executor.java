// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Failure;
import io.penstock.TransientStorageException;
import io.penstock.backend.dx11.ffi.Kernel32;
import io.penstock.engine.spi.staging.ExecutorPump;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntSupplier;

/**
 * The one thread that calls a device's immediate context. It sleeps on an event of Windows's, which new work sets and,
 * where there are fences, the end of a copy: naps would last for a tick of Windows's clock, up to 15 ms.
 */
final class Dx11Executor {

    /** How often copies are looked at before the thread lets others run between looks, and before it sleeps. */
    private static final int SPINS = 64;

    private static final int YIELDS = 256;

    /** Between looks where nothing rings. */
    private static final int NAP_MILLIS = 1;

    /** Between looks where the end of a copy rings: whether the device is still there is asked, too. */
    private static final int SLEEP_MILLIS = 20;

    private static final long JOIN_MILLIS = 5_000;
    private static final long CALL_SECONDS = 20;

    private final Dx11Device device;
    private final long event;
    private final ExecutorPump pump;
    private final Thread thread;
    private final List<Dx11Fence> watched = new ArrayList<>(); // the thread's

    private Dx11Executor(Dx11Device device, long event) {
        this.device = device;
        this.event = event;
        this.pump = new ExecutorPump(() -> Kernel32.SetEvent(event));
        this.thread = new Thread(null, this::loop, "penstock-dx11", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
    }

    /** Starts the thread of a device. */
    static Dx11Executor start(Dx11Device device) {
        long event = Kernel32.CreateEventW(0, 0, 0, 0);
        if (event == 0) {
            throw Dx11Failure.unavailable("no event for the thread of a device: CreateEvent fails");
        }
        Dx11Executor executor = new Dx11Executor(device, event);
        executor.thread.start();
        return executor;
    }

    /** Returns what copies are handed to. */
    ExecutorPump pump() {
        return pump;
    }

    /** Runs a task on the thread: now if this is it, else soon; returns whether it will be run. */
    boolean execute(Runnable task) {
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
     * Makes a call on the thread, and waits for it; not for threads of the device.
     *
     * @throws TransientStorageException if the thread has not come to it for long
     */
    int call(IntSupplier call) {
        CompletableFuture<Integer> answer = new CompletableFuture<>();
        if (!execute(() -> answer.complete(call.getAsInt()))) {
            throw new IllegalStateException("the thread of this device has ended");
        }
        try {
            return answer.get(CALL_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new TransientStorageException(
                    "the device has answered nothing for " + CALL_SECONDS + " s", Failure.NOT_STARTED, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TransientStorageException("interrupted", Failure.NOT_STARTED, e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    /** Has {@link Dx11Fence#look} called until the device has passed it. */
    void watch(Dx11Fence fence) {
        execute(() -> watched.add(fence));
    }

    @SuppressWarnings("ThreadPriorityCheck") // to yield is right where the shortest sleep is a tick of the clock
    private void loop() {
        int looks = 0;
        while (true) {
            boolean last = pump.isClosed(); // asked before the run, which does what was handed in before close()
            long before = pump.progress();
            boolean copies = pump.run(Long.MAX_VALUE);
            boolean more = lookAtFences() || copies;
            if (!more && last) {
                Kernel32.CloseHandle(event);
                return;
            } else if (!more) {
                looks = 0;
                if (!pump.isClosed()) { // pairs with close(), which rings if the pump is at rest
                    Kernel32.WaitForSingleObject(event, Kernel32.INFINITE);
                }
            } else if (pump.progress() != before) {
                looks = 0;
            } else if (++looks <= SPINS) {
                Thread.onSpinWait();
            } else if (looks <= SPINS + YIELDS) {
                Thread.yield();
            } else if (pump.rest()) {
                sleep(copies);
            }
        }
    }

    /** Copies or fences are under way, and nothing else is to do: new work rings. */
    private void sleep(boolean copies) {
        boolean rings = copies && watched.isEmpty() && device.ends().ring(event);
        Kernel32.WaitForSingleObject(event, rings ? SLEEP_MILLIS : NAP_MILLIS);
    }

    private boolean lookAtFences() {
        for (int i = watched.size() - 1; i >= 0; i--) {
            if (watched.get(i).look()) {
                watched.remove(i);
            }
        }
        return !watched.isEmpty();
    }

    /**
     * Ends the thread when everything handed to it is done; waits for that, up to a bound, unless this is the thread.
     *
     * @return whether it makes no call any more
     */
    boolean end() {
        pump.close();
        if (Thread.currentThread() == thread) {
            return true;
        }
        try {
            thread.join(JOIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }
}
