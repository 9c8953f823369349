// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Virtual time and who acts next: I/O queues, the kernel, delivery and the application take steps by chance. */
final class World {
    private static final int MOST_STEPS = 200_000;

    /** A I/O thread: ready to run, or waiting in the kernel. */
    private static final class Fiber {
        final Coroutine coroutine;

        @Nullable
        BooleanSupplier wakes; // null: ready

        long wakesAt = Long.MAX_VALUE;

        Fiber(Coroutine coroutine) {
            this.coroutine = coroutine;
        }
    }

    private record Timer(long at, long number, Runnable action) {}

    final Chance chance;
    private final @Nullable Consumer<String> story;
    private final List<Fiber> fibers = new ArrayList<>();
    private final List<Runnable> ready = new ArrayList<>(); // in any order
    private final PriorityQueue<Timer> timers =
            new PriorityQueue<>(Comparator.comparingLong(Timer::at).thenComparingLong(Timer::number));
    private @Nullable Fiber current;
    private @Nullable BooleanSupplier application; // returns whether it has more to do
    private long applicationWakesAt;
    private @Nullable Throwable failure;
    private long now = 1;
    private long numbers;
    private int steps;
    private boolean broken;
    private boolean interrupts;
    private boolean abandoned;

    World(Chance chance, @Nullable Consumer<String> story) {
        this.chance = chance;
        this.story = story;
    }

    LongSupplier clock() {
        return () -> now;
    }

    long now() {
        return now;
    }

    int steps() {
        return steps;
    }

    void say(Object... words) {
        Consumer<String> listener = story;
        if (listener != null) {
            listener.accept(now + " " + Stream.of(words).map(String::valueOf).collect(Collectors.joining(" ")));
        }
    }

    /** From now on, threads are interrupted by chance. */
    void interrupts() {
        interrupts = true;
    }

    /** Records that an I/O queue breaks. */
    void breaks() {
        broken = true;
    }

    boolean hasBroken() {
        return broken;
    }

    /** Notes a broken rule; the simulation ends with the first. */
    void fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    /** Lets {@code action} happen at some step from now on. */
    void soon(Runnable action) {
        ready.add(action);
    }

    /** Lets {@code action} happen when {@code nanos} have passed, at the earliest. */
    void later(long nanos, Runnable action) {
        if (nanos <= 0) {
            soon(action);
        } else {
            timers.add(new Timer(now + nanos, numbers++, action));
        }
    }

    void start(Runnable body) {
        fibers.add(new Fiber(new Coroutine(body)));
    }

    void application(BooleanSupplier step) {
        application = step;
    }

    /** Lets the application do nothing for a while. */
    void rest(long nanos) {
        applicationWakesAt = now + nanos;
    }

    /** Returns who acts: an I/O queue, or everybody else as one. */
    Object caller() {
        Fiber fiber = current;
        return fiber == null ? this : fiber;
    }

    /** Returns whether the caller has a stack of its own, and may wait. */
    boolean isOnFiber() {
        return current != null;
    }

    /** Lets others act before the caller continues, if the caller is an I/O queue. */
    void pause() {
        Fiber fiber = current;
        if (fiber != null) {
            fiber.coroutine.suspend();
        }
    }

    /** Waits, as an I/O queue, until something is so; returns whether it is, rather than the time being over. */
    boolean await(BooleanSupplier something, long nanos) {
        Fiber fiber = current;
        if (abandoned) { // also for code that caught the first of these and waits again
            throw new Coroutine.Abandoned();
        }
        if (fiber == null) {
            return something.getAsBoolean();
        }
        long end = nanos < 0 ? Long.MAX_VALUE : now + nanos;
        while (!something.getAsBoolean() && now < end) {
            fiber.wakes = something;
            fiber.wakesAt = end;
            fiber.coroutine.suspend();
        }
        return something.getAsBoolean();
    }

    /** Runs until all are idle, or a rule is broken. */
    @Nullable
    Throwable run() {
        while (failure == null && Violation.first() == null && step()) {
            if (++steps > MOST_STEPS) {
                fail(new Violation("no end after " + MOST_STEPS + " steps"));
            }
        }
        Throwable violation = Violation.first();
        return violation == null ? failure : violation;
    }

    void abandon() {
        abandoned = true;
        fibers.forEach(fiber -> fiber.coroutine.abandon());
    }

    /** Returns whether every I/O queue has ended. */
    boolean queuesHaveEnded() {
        return fibers.isEmpty();
    }

    private boolean step() {
        now += chance.below(50);
        fire();
        int runnable = countRunnable();
        int choices = runnable + ready.size() + (application == null || applicationWakesAt > now ? 0 : 1);
        if (choices == 0) {
            return skip();
        }
        int choice = chance.below(choices);
        if (choice < runnable) {
            resume(choice);
        } else if (choice < runnable + ready.size()) {
            interrupted(takeReady(choice - runnable));
        } else {
            BooleanSupplier step = application;
            act(() -> {
                if (step != null && !step.getAsBoolean()) {
                    application = null;
                }
            });
        }
        return true;
    }

    private Runnable takeReady(int index) {
        // The last one takes its place: order is by chance anyway.
        Runnable taken = ready.get(index);
        Runnable last = ready.remove(ready.size() - 1);
        if (taken != last) {
            ready.set(index, last);
        }
        return taken;
    }

    /** Runs an action, perhaps on a thread that was interrupted, as schedulers do to cancel. */
    private void interrupted(Runnable action) {
        if (interrupts && chance.oneIn(4)) {
            Thread.currentThread().interrupt();
        }
        act(action);
        if (interrupts) {
            Thread.interrupted();
        }
    }

    private void act(Runnable action) {
        try {
            action.run();
        } catch (Throwable e) {
            fail(e);
        }
    }

    private void fire() {
        for (Timer first = timers.peek(); first != null && first.at <= now; first = timers.peek()) {
            timers.poll();
            ready.add(first.action);
        }
    }

    private int countRunnable() {
        int count = 0;
        for (Fiber fiber : fibers) {
            count += isRunnable(fiber) ? 1 : 0;
        }
        return count;
    }

    private boolean isRunnable(Fiber fiber) {
        BooleanSupplier wakes = fiber.wakes;
        return wakes == null || fiber.wakesAt <= now || wakes.getAsBoolean();
    }

    private void resume(int index) {
        int left = index;
        for (Fiber fiber : fibers) {
            if (isRunnable(fiber) && left-- == 0) {
                resume(fiber);
                return;
            }
        }
    }

    private void resume(Fiber fiber) {
        fiber.wakes = null;
        fiber.wakesAt = Long.MAX_VALUE;
        current = fiber;
        fiber.coroutine.resume();
        current = null;
        if (fiber.coroutine.isOver()) {
            fibers.remove(fiber);
            Throwable thrown = fiber.coroutine.failure();
            if (thrown != null) {
                fail(thrown);
            }
        }
    }

    /** No thread can act now: advances to the next moment at which one can. */
    private boolean skip() {
        Timer first = timers.peek();
        long next = first == null ? Long.MAX_VALUE : first.at;
        next = application == null ? next : Math.min(next, applicationWakesAt);
        for (Fiber fiber : fibers) {
            next = Math.min(next, fiber.wakesAt);
        }
        if (next == Long.MAX_VALUE) {
            return false;
        }
        now = Math.max(now, next);
        return true;
    }
}
