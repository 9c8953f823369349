// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.order.BlockLocks;
import io.penstock.engine.order.BusyRegions;
import io.penstock.engine.queue.Lane;
import io.penstock.engine.queue.LaneLimits;
import io.penstock.engine.queue.Lanes;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.Route;
import io.penstock.engine.stream.Leases;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import java.util.function.LongSupplier;

/** Lanes that run where a simulation lets them, on its clock; the way from its package to what is package-private. */
public final class SteppedLanes implements Lanes {

    private final List<Lane> lanes = new ArrayList<>();
    private final List<CompletableFuture<Void>> ends = new ArrayList<>();
    private final IntUnaryOperator pick;
    private int users;

    private SteppedLanes(IntUnaryOperator pick) {
        this.pick = pick;
    }

    /**
     * What a simulation decides.
     *
     * @param clock the time in nanoseconds
     * @param pick a number below its argument: which lane
     * @param start gets the body of each lane's thread
     * @param between called between turns; returns whether the next turn may wait, or throws: the lane breaks
     * @param quantum what one transfer may start before it is another's turn
     * @param slots the bounce slots of a lane and route
     */
    public record Stage(
            LongSupplier clock,
            IntUnaryOperator pick,
            Consumer<Runnable> start,
            BooleanSupplier between,
            long quantum,
            int slots) {}

    /** Opens a backend whose routes share their lanes, as all of them say. */
    public static Backend open(DeviceDriver driver, List<Route> routes, Options options, Stage stage) {
        SteppedLanes all = new SteppedLanes(stage.pick);
        return EngineBackend.open("simulated", driver, routes, options, route -> all.join(route, options, stage));
    }

    /** Returns what lanes and order keys of a backend still know of transfers, which all have ended; empty if nothing. */
    public static String known(Backend backend) {
        EngineBackend engine = (EngineBackend) backend;
        int known = engine.lanes().get(0).all().stream().mapToInt(Lane::known).sum();
        int keys = engine.intake().keys();
        return (known == 0 ? "" : known + " things that a lane knows of ") + (keys == 0 ? "" : keys + " order keys");
    }

    /** What belongs to no backend, and outlives one whose lane broke (rule 601). */
    public record Left(int files, int zombies, long leases) {

        /** Returns what there is now. */
        public static Left now() {
            return new Left(BlockLocks.files(), BusyRegions.ALL.all().size(), Leases.live());
        }

        /** Takes the marks of a broken lane back, which nobody else would. */
        public static void forgetZombies() {
            BusyRegions.ALL.all().forEach(BusyRegions.ALL::remove);
        }

        @Override
        public String toString() {
            return files + " files with block locks and " + zombies + " busy regions and " + leases + " leases";
        }
    }

    private Lanes join(Route route, Options options, Stage stage) {
        users++;
        long bytes = options.get(CommonOptions.LANE_BYTES);
        if (!lanes.isEmpty()) {
            return this;
        }
        try {
            for (int i = 0; i < route.lanes(); i++) {
                lanes.add(new Lane(route.openQueue(), new LaneLimits(bytes, stage.quantum, stage.slots), stage.clock));
            }
        } catch (RuntimeException e) {
            lanes.forEach(Lane::close);
            throw e;
        }
        for (Lane lane : lanes) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            ends.add(end);
            stage.start.accept(() -> {
                run(lane, stage);
                end.complete(null);
            });
        }
        return this;
    }

    private static void run(Lane lane, Stage stage) {
        try {
            while (!lane.isStopped()) {
                lane.turn(stage.between.getAsBoolean());
            }
            lane.close();
        } catch (Bug bug) { // as LaneThread
            lane.breakDown(bug);
        }
    }

    /** What breaks a lane. */
    public static final class Bug extends RuntimeException {
        private static final long serialVersionUID = 1;

        public Bug() {
            super("a bug");
        }
    }

    @Override
    public Lane pick() {
        return lanes.get(pick.applyAsInt(lanes.size()));
    }

    @Override
    public List<Lane> all() {
        return lanes;
    }

    @Override
    public CompletableFuture<Void> release() {
        if (--users > 0) {
            return CompletableFuture.completedFuture(null);
        }
        lanes.forEach(Lane::stop);
        return CompletableFuture.allOf(ends.toArray(new CompletableFuture<?>[0]));
    }
}
