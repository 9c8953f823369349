// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.NativeError;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Ends commands in order by itself, or holds them until the test ends them. */
public final class FakeQueue implements NativeQueue {

    public volatile boolean closed;

    /** A request as the queue took it. */
    public record Taken(
            Request request,
            Request.Kind kind,
            FakeDevice.MemoryFile file,
            long fileOffset,
            HostMemory memory,
            long memoryOffset,
            long bytes) {

        public int id() {
            return request.tag();
        }
    }

    private final Semaphore woken = new Semaphore(0);
    private final Wakeup wakeup = new Wakeup(this::endWait);
    public final AtomicInteger wakes = new AtomicInteger();
    public final AtomicInteger syncs = new AtomicInteger();
    public final AtomicInteger transfers = new AtomicInteger();
    public final AtomicInteger turns = new AtomicInteger(); // that have begun
    private final List<Runnable> ends = new ArrayList<>(); // I/O queue only, or under hold
    private final List<Runnable> kept = new ArrayList<>(); // of copies; under this
    public final Map<Integer, Taken> held = new LinkedHashMap<>(); // in the order in which they came
    public final List<Integer> cancelled = new ArrayList<>();
    public volatile boolean hold;
    public volatile boolean keepsCopies; // ends copies that it takes from now on only by hand
    public final AtomicInteger keptCopies = new AtomicInteger();
    public volatile int shortBy; // reads and writes move at most this many bytes, if not 0
    public int copiesBeforeFailure = Integer.MAX_VALUE; // under this
    public volatile long failFrom = Long.MAX_VALUE; // file commands from this offset on fail
    public volatile long failWith; // the result of the next file command, if not 0
    public final Map<Integer, Runnable> joining =
            new ConcurrentHashMap<>(); // commands that want to say that they stand in order
    public Runnable beforeWait = () -> {}; // the test's, on the I/O queue
    public Runnable whileWaiting = () -> {}; // the same
    public volatile int idleParallelism = 1;
    public int parallelism; // of an I/O queue that is created later; 0 for the depth
    private final int depth;
    private @Nullable Thread ioQueue; // the first thread that calls; rule 301 demands that no other does
    public final List<String> strangers = new CopyOnWriteArrayList<>(); // calls by other threads, and by which

    public FakeQueue() {
        this(8);
    }

    public FakeQueue(int depth) {
        this.depth = depth;
    }

    @Override
    public int idleParallelism() {
        return idleParallelism;
    }

    @Override
    public int parallelism() {
        return parallelism == 0 ? depth : parallelism;
    }

    @Override
    public int depth() {
        return depth;
    }

    /** Returns the name of the thread that calls. */
    public synchronized String ioQueue() {
        return ioQueue == null ? "none" : ioQueue.getName();
    }

    private void onTheQueue(String call) {
        if (ioQueue == null) {
            ioQueue = Thread.currentThread();
        } else if (ioQueue != Thread.currentThread()) {
            strangers.add(call + " by " + Thread.currentThread().getName());
            throw new IllegalStateException("rule 301: " + strangers + " instead of " + ioQueue.getName());
        }
    }

    @Override
    public synchronized void enqueue(Request request) {
        onTheQueue("enqueue");
        if (request.isCopy()) {
            boolean in = request.isInward();
            ByteBuffer bounce = window(request.staging(), request.stagingOffset(), request.bytes());
            ByteBuffer memory = window(request.memory(), request.memoryOffset(), request.bytes());
            long bytes = request.bytes();
            if (copiesBeforeFailure-- == 0) {
                ends.add(() -> end(request, -5));
                return;
            }
            Runnable end = () -> {
                (in ? memory : bounce).put(in ? bounce : memory);
                request.complete(bytes);
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
                request,
                request.kind(),
                (FakeDevice.MemoryFile) request.file(),
                request.fileOffset(),
                request.kind() == Request.Kind.SYNC ? HostMemory.wrap(1, 0) : (HostMemory) request.memory(),
                request.memoryOffset(),
                request.bytes());
        taken(request.kind());
        Runnable inOrder = request.inOrder();
        if (inOrder != null) {
            joining.put(request.tag(), inOrder);
        }
        if (hold) {
            held.put(request.tag(), taken);
        } else {
            ends.add(() -> end(taken.request(), perform(taken)));
        }
    }

    /** Ends the copies that it keeps, as the device would. */
    public synchronized void endCopies() {
        keepsCopies = false;
        ends.addAll(kept);
        kept.clear();
        wakeup.wake();
    }

    private void taken(Request.Kind kind) {
        (kind == Request.Kind.SYNC ? syncs : transfers).incrementAndGet();
    }

    private long perform(Taken taken) {
        if (failWith != 0) {
            long result = failWith;
            failWith = 0;
            return result;
        }
        if (taken.kind() == Request.Kind.SYNC) {
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
        return taken.kind() == Request.Kind.READ
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
    public synchronized void release(int id) {
        Taken taken = held.remove(id);
        ends.add(() -> end(taken.request(), perform(taken)));
        wakeup.wake();
    }

    public synchronized void releaseAll() {
        hold = false;
        List.copyOf(held.keySet()).forEach(this::release);
    }

    /** Ends a held command with a result of the test's. */
    public synchronized void end(int id, long result) {
        Taken taken = held.remove(id);
        ends.add(() -> end(taken.request(), result));
        wakeup.wake();
    }

    /** Makes the next turn throw, as a bug would. */
    public synchronized void breakWith(String message) {
        ends.add(() -> {
            throw new IllegalStateException(message);
        });
        wakeup.wake();
    }

    /** Waits for the end of the thread that calls, after {@link #breakWith}. */
    public void awaitEnd() throws InterruptedException {
        Thread thread;
        synchronized (this) {
            thread = ioQueue;
        }
        Objects.requireNonNull(thread, "no thread has called").join();
    }

    @Override
    public synchronized void cancel(Request request) {
        onTheQueue("cancel");
        cancelled.add(request.tag());
    }

    @Override
    public void turn(long waitNanos) {
        synchronized (this) {
            onTheQueue("turn");
        }
        turns.incrementAndGet();
        if (!runEnds() && waitNanos != 0) {
            beforeWait.run();
            if (wakeup.begin()) {
                whileWaiting.run();
                await(waitNanos);
                wakeup.end();
            }
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
    public Wakeup wakeup() {
        return wakeup;
    }

    private void endWait() {
        wakes.incrementAndGet();
        woken.release();
    }

    private static void end(Request request, long result) {
        if (result < 0) {
            request.fail(failure(result));
        } else {
            request.complete(result);
        }
    }

    private static NativeFailure failure(long result) {
        NativeFailure.Kind what = switch ((int) result) {
            case -4 -> NativeFailure.Kind.RETRY;
            case -19 -> NativeFailure.Kind.LOST;
            case -125 -> NativeFailure.Kind.CANCELLED;
            default -> NativeFailure.Kind.PERMANENT;
        };
        return new NativeFailure(new NativeError("fake", -result, "EFAKE"), what);
    }

    @Override
    public void close() {
        closed = true;
    }
}
