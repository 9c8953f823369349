// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import io.penstock.DeviceLostException;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.TransientStorageException;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.backend.nvme.controller.QueuePair;
import io.penstock.backend.nvme.controller.Status;
import io.penstock.backend.nvme.controller.TailDoorbell;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.kit.ffi.TimerSlack;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Wakeup;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.NonBlocking;

/**
 * The thread of a queue pair that another submits to: it forwards the doorbell, and emits completions as they are
 * requested. It deletes the queues when it is closed.
 *
 * <p>A command has no deadline of its own, since its identifier is not known before its completion. If commands are in
 * flight and none completes in time, the controller is reset.
 */
final class CompletionLoop implements QueuePair.Completions {

    private static final long FIRST_NAP_NANOS = 5_000;
    private static final long LONGEST_NAP_NANOS = 200_000;
    private static final long MOST_CHECK_NANOS = 500_000_000;

    private final Controller controller;
    private final QueuePair pair;
    private final TailDoorbell doorbell;
    private final long pollNanos;
    private final long checkNanos;
    private final String name;
    private final Wakeup wakeup = new Wakeup();
    private final CompletionFlux flux;
    private final Pause pause = new Pause().naps(FIRST_NAP_NANOS, LONGEST_NAP_NANOS);
    private final CommandCompletion[] successes; // by command identifier: most completions are one of these
    private volatile boolean closing;

    // The thread's.
    private CompletionFlux.@Nullable Receiver receiver;
    private int tail;
    private boolean isRung; // by the word in memory
    private long nextCheck = System.nanoTime();
    private long lastProgress = System.nanoTime();

    CompletionLoop(Controller controller, QueuePair pair, TailDoorbell doorbell, long pollNanos) {
        this.controller = controller;
        this.pair = pair;
        this.doorbell = doorbell;
        this.pollNanos = pollNanos;
        checkNanos = Math.min(MOST_CHECK_NANOS, controller.timeoutNanos() / 4);
        name = "queue pair " + pair.id() + " of " + controller.bus().name();
        flux = new CompletionFlux(name, wakeup);
        successes = new CommandCompletion[pair.entries()];
        for (int id = 0; id < successes.length; id++) {
            successes[id] = new CommandCompletion(id, Status.SUCCESS, 0);
        }
    }

    /** The pair's thread. */
    private static final class PairThread extends Thread implements NonBlocking {

        PairThread(Runnable task) {
            super(null, task, "penstock-nvme-pair", 0, false);
            setDaemon(true);
            setContextClassLoader(null); // keeps no application's class loader alive
        }
    }

    /** Returns a thread for a pair. */
    static Thread thread(Runnable task) {
        return new PairThread(task);
    }

    /**
     * Starts the thread; if it does not start, this throws, and nothing is released.
     *
     * @param release called by it at its end, when the queues are deleted
     */
    void start(Function<Runnable, Thread> threads, Runnable release) {
        Thread thread = threads.apply(() -> run(release));
        thread.setName("penstock-nvme-pair-" + pair.id());
        thread.start();
    }

    String name() {
        return name;
    }

    Flux<CommandCompletion> completions() {
        return flux;
    }

    void close() {
        closing = true;
        wakeup.wake();
    }

    private void run(Runnable release) {
        TimerSlack.minimize();
        while (!closing && isCurrent()) {
            turn();
        }
        if (!closing) { // a reset, or a lost controller
            emit(); // what had completed before, if it is requested
            flux.terminate(failure());
        }
        while (!closing) {
            wakeup.await(-1); // the submitter may still use the memory of the queues
        }
        controller.stop(pair);
        emit();
        controller.close(pair);
        doorbell.free();
        release.run();
        flux.terminate(null); // unless it has failed
    }

    private boolean isCurrent() {
        return pair.generation() == controller.generation() && controller.lost() == null;
    }

    private void turn() {
        int before = tail;
        tail = doorbell.forward();
        int count = emit();
        if (count > 0) {
            pair.ringHead();
        }
        isRung |= tail != before;
        if (count > 0 || tail != before) {
            pause.reset();
            pause.spinFor(pollNanos);
        }
        check(count);
        long nap = pause.next();
        if (nap > 0) {
            wakeup.await(nap);
        }
    }

    /** Emits the completions that have arrived and are requested; returns how many. */
    private int emit() {
        int count = 0;
        while (count < pair.entries()) {
            receiver = flux.wanted();
            if (receiver == null || pair.reap(this, 1) == 0) {
                break;
            }
            count++;
        }
        return count;
    }

    @Override
    public void completed(int commandId, int status, int result) {
        boolean isKnown = commandId < successes.length && status == Status.SUCCESS && result == 0;
        Objects.requireNonNull(receiver)
                .emit(isKnown ? successes[commandId] : new CommandCompletion(commandId, status, result));
    }

    /** Resets the controller if it is at fault, or completes nothing in time although commands are in flight. */
    private void check(int count) {
        long now = System.nanoTime();
        if (count > 0 || !isRung || tail == pair.head() || pair.hasCompletion()) { // the last waits for a request
            lastProgress = now;
        } else if (now - nextCheck >= 0) {
            nextCheck = now + checkNanos;
            String fault = controller.fault();
            if (!fault.isEmpty()) {
                controller.reset(pair.generation(), fault);
            } else if (now - lastProgress > controller.timeoutNanos()) {
                String late = name + " has completed nothing within " + controller.timeoutNanos() / 1_000_000 + " ms";
                controller.reset(pair.generation(), late);
            }
        }
    }

    private PenstockException failure() {
        NativeFailure lost = controller.lost();
        if (lost != null) {
            return new DeviceLostException(name + " failed: " + lost, unknown(lost.error()), null);
        }
        NativeError error = Status.failure("reset", Status.HOST_ABORTED).error();
        return new TransientStorageException(
                name + " ended, and its commands in flight: the controller was reset", unknown(error), null);
    }

    private static Failure unknown(NativeError error) {
        return new Failure(Outcome.UNKNOWN, error);
    }
}
