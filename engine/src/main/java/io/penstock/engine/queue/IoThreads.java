// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.Shared;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The I/O queues of a path, one thread each, shared by all backends of the process whose paths have an equal sharing
 * key.
 *
 * <p>They stop when the last backend that uses them is closed. While any run, a shutdown hook delays the exit of the
 * process for what is in flight, for at most a second. It stops nothing: hooks run concurrently, and another hook may
 * still send responses from files.
 */
public final class IoThreads implements IoQueues {

    // By what the path shares, and the options: any option may change a queue. Lists, not records, whose first hashCode
    // is slow to make.
    private static final Shared<List<Object>, IoThreads> SHARED = new Shared<>(unused -> {}); // release() stops them
    private static final long EXIT_MILLIS = 1000;
    // This many consecutive picks go to one I/O queue (2^4), which gets them as one batch; then the next is picked, so
    // that a single subscriber keeps all I/O queues busy. Where threads poll, only picks at which it was behind count:
    // while it keeps up its thread is awake, and an idle one would have to be woken.
    private static final int RUN_BITS = 4;

    private final List<IoThread> threads = new ArrayList<>();
    private int picks;
    private boolean polls; // written before others have this object
    private @Nullable Thread exitHook;

    private IoThreads() {}

    /** Acquires the I/O queues of {@code ioPath}, starting them if there are none. */
    public static IoQueues acquire(IoPath ioPath, Options options) {
        return SHARED.open(List.of(ioPath.sharing(), options), () -> {
            IoThreads ioQueues = new IoThreads();
            ioQueues.start(ioPath, options);
            return ioQueues;
        });
    }

    private void start(IoPath ioPath, Options options) {
        loadNatives();
        QueueLimits limits = QueueLimits.ofBytes(options.get(CommonOptions.QUEUE_BYTES));
        long pollNanos = Pause.pollNanos(options.get(CommonOptions.POLL_MICROS));
        polls = pollNanos > 0;
        try {
            for (int i = 0; i < ioPath.ioQueues(); i++) {
                IoQueue ioQueue = new IoQueue(ioPath.openQueue(), limits, System::nanoTime);
                String name = "penstock-queue-" + ioPath.path() + "-" + i;
                threads.add(new IoThread(ioQueue, this, name, new PollWindow(pollNanos)));
            }
            threads.forEach(Thread::start);
        } catch (RuntimeException | Error e) { // such as no more threads
            threads.forEach(IoThread::discard);
            throw e;
        }
        addExitHook();
    }

    private void addExitHook() {
        Thread hook = new Thread(null, this::waitAtExit, "penstock-exit", 0, false);
        hook.setContextClassLoader(null);
        try {
            Runtime.getRuntime().addShutdownHook(hook);
            exitHook = hook;
        } catch (IllegalStateException e) {
            exitHook = null; // the process is exiting: another hook opens a backend, and waits for it
        }
    }

    /** JNA's first use reads and unpacks files: it must not be on an I/O thread, where BlockHound forbids that. */
    private static void loadNatives() {
        if (Machine.isSupported() && NativeMemory.isAvailable()) {
            LibC.pageSize();
        }
    }

    /** Releases the I/O queues; stops them when their use count reaches 0. */
    @Override
    public CompletableFuture<Void> release() {
        return SHARED.leave(this) ? stop() : CompletableFuture.completedFuture(null);
    }

    private CompletableFuture<Void> stop() {
        removeExitHook();
        return CompletableFuture.allOf(
                threads.stream().map(IoThread::stopWhenIdle).toArray(CompletableFuture[]::new));
    }

    private CompletableFuture<Void> idle() {
        return CompletableFuture.allOf(threads.stream().map(IoThread::whenIdle).toArray(CompletableFuture[]::new));
    }

    private void removeExitHook() {
        Thread hook = exitHook;
        if (hook != null) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                exitHook = null; // the process is exiting, and the hook is running
            }
        }
    }

    private void waitAtExit() {
        try {
            idle().get(EXIT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            return; // the process exits anyway, and the system reclaims everything
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Returns the next I/O queue, or the last one again if it keeps up and its thread polls; on the thread of an I/O
     * queue, that I/O queue, so that a chain of transfers never changes threads. One that is broken is passed over.
     */
    @Override
    public IoQueue pick() {
        Thread current = Thread.currentThread();
        if (current instanceof IoThread thread && thread.group() == this && !thread.isBroken()) {
            return thread.ioQueue();
        }
        int turn = picks;
        IoThread thread = thread(turn);
        for (int others = threads.size() - 1; others > 0 && thread.isBroken(); others--) {
            turn += 1 << RUN_BITS;
            thread = thread(turn);
        }
        IoQueue ioQueue = thread.ioQueue();
        // May lose counts: an I/O queue gets a few more then, but no thread waits for a counter.
        picks = !polls || ioQueue.isBehind() ? turn + 1 : turn >>> RUN_BITS << RUN_BITS;
        return ioQueue;
    }

    private IoThread thread(int turn) {
        return threads.get((turn >>> RUN_BITS) % threads.size());
    }

    @Override
    public List<IoQueue> all() {
        return threads.stream().map(IoThread::ioQueue).toList();
    }
}
