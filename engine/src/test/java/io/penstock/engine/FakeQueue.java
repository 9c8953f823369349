// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.NativeError;
import io.penstock.engine.host.HostMemory;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Ends commands in order by itself, or holds them until the test ends them. */
final class FakeQueue implements NativeQueue {

    /** A command as the queue took it. */
    record Taken(
            int id,
            Command.Kind kind,
            FakeDevice.MemoryFile file,
            long fileOffset,
            HostMemory memory,
            long memoryOffset,
            long bytes) {}

    private final Semaphore woken = new Semaphore(0);
    final AtomicInteger wakes = new AtomicInteger();
    final AtomicInteger syncs = new AtomicInteger();
    final AtomicInteger transfers = new AtomicInteger();
    private final List<Runnable> ends = new ArrayList<>(); // lane only, or under hold
    private final List<Runnable> kept = new ArrayList<>(); // of copies; under this
    final Map<Integer, Taken> held = new LinkedHashMap<>(); // in the order in which they came
    final List<Integer> cancelled = new ArrayList<>();
    volatile boolean hold;
    volatile boolean keepsCopies; // ends those that it takes from now on when it is told to
    final AtomicInteger keptCopies = new AtomicInteger();
    volatile int shortBy; // reads and writes move at most this many bytes, if not 0
    volatile long failFrom = Long.MAX_VALUE; // file commands from this offset on fail
    volatile long failWith; // the result of the next file command, if not 0
    final Map<Integer, Runnable> joining =
            new ConcurrentHashMap<>(); // commands that want to say that they stand in order
    Runnable beforeWait = () -> {}; // the test's, on the lane
    private Completions sink = (id, result) -> {};
    private final int depth;
    private @Nullable Thread lane; // the first thread that calls; rule 301 demands that no other does
    final List<String> strangers = new CopyOnWriteArrayList<>(); // calls by other threads, and by which

    FakeQueue() {
        this(8);
    }

    FakeQueue(int depth) {
        this.depth = depth;
    }

    @Override
    public int depth() {
        return depth;
    }

    /** Returns the name of the thread that calls. */
    synchronized String lane() {
        return lane == null ? "nobody" : lane.getName();
    }

    private void onTheLane(String call) {
        if (lane == null) {
            lane = Thread.currentThread();
        } else if (lane != Thread.currentThread()) {
            strangers.add(call + " by " + Thread.currentThread().getName());
            throw new IllegalStateException("rule 301: " + strangers + " instead of " + lane.getName());
        }
    }

    @Override
    public synchronized void enqueue(int id, Command command) {
        onTheLane("enqueue");
        if (command.kind() == Command.Kind.COPY_IN || command.kind() == Command.Kind.COPY_OUT) {
            boolean in = command.kind() == Command.Kind.COPY_IN;
            ByteBuffer slot = window(command.slot(), command.slotOffset(), command.bytes());
            ByteBuffer memory = window(command.memory(), command.memoryOffset(), command.bytes());
            long bytes = command.bytes();
            Runnable end = () -> {
                (in ? memory : slot).put(in ? slot : memory);
                sink.completed(id, bytes);
            };
            if (keepsCopies) {
                kept.add(end);
                keptCopies.incrementAndGet();
            } else {
                ends.add(end);
            }
            return;
        }
        Taken taken = new Taken(
                id,
                command.kind(),
                (FakeDevice.MemoryFile) command.file(),
                command.fileOffset(),
                command.kind() == Command.Kind.SYNC ? HostMemory.wrap(1, 0) : (HostMemory) command.memory(),
                command.memoryOffset(),
                command.bytes());
        taken(command.kind());
        Runnable inOrder = command.inOrder();
        if (inOrder != null) {
            joining.put(id, inOrder);
        }
        if (hold) {
            held.put(id, taken);
        } else {
            ends.add(() -> sink.completed(id, perform(taken)));
        }
    }

    /** Ends the copies that it keeps, as the device would. */
    synchronized void endCopies() {
        keepsCopies = false;
        ends.addAll(kept);
        kept.clear();
        wake();
    }

    private void taken(Command.Kind kind) {
        (kind == Command.Kind.SYNC ? syncs : transfers).incrementAndGet();
    }

    private long perform(Taken taken) {
        if (failWith != 0) {
            long result = failWith;
            failWith = 0;
            return result;
        }
        if (taken.kind() == Command.Kind.SYNC) {
            return 0;
        }
        if (taken.fileOffset() >= failFrom) {
            return -5;
        }
        if (isMisaligned(taken, taken.file().limits())) {
            return -22;
        }
        long bytes = shortBy == 0 ? taken.bytes() : Math.min(shortBy, taken.bytes());
        ByteBuffer memory = window(taken.memory(), taken.memoryOffset(), bytes);
        return taken.kind() == Command.Kind.READ
                ? taken.file().read(taken.fileOffset(), memory)
                : taken.file().write(taken.fileOffset(), memory);
    }

    private static boolean isMisaligned(Taken taken, Limits limits) {
        long address = taken.memory().hostAddress() + taken.memoryOffset();
        return (taken.fileOffset() | taken.bytes()) % limits.fileAlignment() != 0
                || address % limits.memoryAlignment() != 0;
    }

    private static ByteBuffer window(DeviceMemory memory, long offset, long bytes) {
        return ((HostMemory) memory).buffer(offset, (int) bytes);
    }

    /** Ends a held command as the device would. */
    synchronized void release(int id) {
        Taken taken = held.remove(id);
        ends.add(() -> sink.completed(id, perform(taken)));
        wake();
    }

    synchronized void releaseAll() {
        hold = false;
        List.copyOf(held.keySet()).forEach(this::release);
    }

    /** Ends a held command with a result of the test's. */
    synchronized void end(int id, long result) {
        held.remove(id);
        ends.add(() -> sink.completed(id, result));
        wake();
    }

    /** Makes the next turn throw, as a bug would. */
    synchronized void breakWith(String message) {
        ends.add(() -> {
            throw new IllegalStateException(message);
        });
        wake();
    }

    @Override
    public synchronized void cancel(int id) {
        onTheLane("cancel");
        cancelled.add(id);
    }

    @Override
    public void turn(long waitNanos, Completions completions) {
        synchronized (this) {
            onTheLane("turn");
        }
        sink = completions;
        if (!runEnds() && waitNanos != 0) {
            beforeWait.run();
            await(waitNanos);
            runEnds();
        }
    }

    private void await(long waitNanos) {
        try {
            if (waitNanos < 0) {
                woken.acquire();
            } else if (!woken.tryAcquire(waitNanos, TimeUnit.NANOSECONDS)) {
                return;
            }
            woken.drainPermits();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private boolean runEnds() {
        List<Runnable> now;
        synchronized (this) {
            now = List.copyOf(ends);
            ends.clear();
        }
        now.forEach(Runnable::run);
        return !now.isEmpty();
    }

    @Override
    public void wake() {
        wakes.incrementAndGet();
        woken.release();
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        NativeFailure.Kind what = result == -4
                ? NativeFailure.Kind.RETRY
                : result == -125 ? NativeFailure.Kind.CANCELLED : NativeFailure.Kind.PERMANENT;
        return new NativeFailure(new NativeError("fake", -result, "EFAKE"), what);
    }

    @Override
    public void close() {}
}
