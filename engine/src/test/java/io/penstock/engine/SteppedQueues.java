// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.order.BlockLocks;
import io.penstock.engine.order.BusyRegions;
import io.penstock.engine.queue.IoQueue;
import io.penstock.engine.queue.IoQueues;
import io.penstock.engine.queue.QueueLimits;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.stream.Leases;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import java.util.function.LongSupplier;

/**
 * I/O queues that run where a simulation lets them, on its clock; the way from its package to what is package-private.
 */
public final class SteppedQueues implements IoQueues {

    private final List<IoQueue> ioQueues = new ArrayList<>();
    private final List<CompletableFuture<Void>> ends = new ArrayList<>();
    private final IntUnaryOperator pick;
    private int users;

    private SteppedQueues(IntUnaryOperator pick) {
        this.pick = pick;
    }

    /**
     * What a simulation decides.
     *
     * @param clock the time in nanoseconds
     * @param pick a number below its argument: which I/O queue
     * @param start gets the body of each I/O thread
     * @param between called between turns; returns whether the next turn may wait, or throws: the I/O queue breaks
     * @param quantum what one transfer may start before it is another's turn
     * @param bounceBuffers the bounce buffers of an I/O queue and path
     */
    public record Stage(
            LongSupplier clock,
            IntUnaryOperator pick,
            Consumer<Runnable> start,
            BooleanSupplier between,
            long quantum,
            int bounceBuffers) {}

    /** Opens a backend whose paths share their I/O queues, as all of them say. */
    public static Backend open(DeviceDriver driver, List<IoPath> ioPaths, Options options, Stage stage) {
        SteppedQueues all = new SteppedQueues(stage.pick);
        return EngineBackend.open("simulated", driver, ioPaths, options, ioPath -> all.join(ioPath, options, stage));
    }

    /**
     * Returns what I/O queues and order keys of a backend still know of transfers, which all have ended; empty if
     * nothing.
     */
    public static String known(Backend backend) {
        EngineBackend engine = (EngineBackend) backend;
        int known =
                engine.ioQueues().get(0).all().stream().mapToInt(IoQueue::known).sum();
        int keys = engine.intake().keys();
        return (known == 0 ? "" : known + " things that an I/O queue knows of ")
                + (keys == 0 ? "" : keys + " order keys");
    }

    /** What belongs to no backend, and outlives one whose I/O queue broke (rule 601). */
    public record Left(int files, int abandonedTransfers, long leases) {

        /** Returns what there is now. */
        public static Left now() {
            return new Left(BlockLocks.files(), BusyRegions.ALL.all().size(), Leases.live());
        }

        /** Takes the marks of a broken I/O queue back, which nothing else does. */
        public static void removeAbandoned() {
            BusyRegions.ALL.all().forEach(BusyRegions.ALL::remove);
        }

        @Override
        public String toString() {
            return files + " files with block locks and " + abandonedTransfers + " busy regions and " + leases
                    + " leases";
        }
    }

    private IoQueues join(IoPath ioPath, Options options, Stage stage) {
        users++;
        long bytes = options.get(CommonOptions.QUEUE_BYTES);
        if (!ioQueues.isEmpty()) {
            return this;
        }
        try {
            for (int i = 0; i < ioPath.ioQueues(); i++) {
                ioQueues.add(new IoQueue(
                        ioPath.openQueue(), new QueueLimits(bytes, stage.quantum, stage.bounceBuffers), stage.clock));
            }
        } catch (RuntimeException e) {
            ioQueues.forEach(IoQueue::close);
            throw e;
        }
        for (IoQueue ioQueue : ioQueues) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            ends.add(end);
            stage.start.accept(() -> {
                run(ioQueue, stage);
                end.complete(null);
            });
        }
        return this;
    }

    private static void run(IoQueue ioQueue, Stage stage) {
        try {
            while (!ioQueue.isStopped()) {
                ioQueue.turn(stage.between.getAsBoolean());
            }
            ioQueue.close();
        } catch (Bug bug) { // as IoThread
            ioQueue.breakDown(bug);
        }
    }

    /** What breaks an I/O queue. */
    public static final class Bug extends RuntimeException {
        private static final long serialVersionUID = 1;

        public Bug() {
            super("a bug");
        }
    }

    @Override
    public IoQueue pick() {
        return ioQueues.get(pick.applyAsInt(ioQueues.size()));
    }

    @Override
    public List<IoQueue> all() {
        return ioQueues;
    }

    @Override
    public CompletableFuture<Void> release() {
        if (--users > 0) {
            return CompletableFuture.completedFuture(null);
        }
        ioQueues.forEach(IoQueue::stop);
        return CompletableFuture.allOf(ends.toArray(new CompletableFuture<?>[0]));
    }
}
