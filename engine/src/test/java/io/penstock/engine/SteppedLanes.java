// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.Route;
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

    private SteppedLanes(IntUnaryOperator pick) {
        this.pick = pick;
    }

    /**
     * What a simulation decides.
     *
     * @param clock the time in nanoseconds
     * @param pick a number below its argument: which lane
     * @param start gets the body of each lane's thread
     * @param between called between turns; returns whether the next turn may wait
     */
    public record Stage(LongSupplier clock, IntUnaryOperator pick, Consumer<Runnable> start, BooleanSupplier between) {}

    /** Opens a backend of one route. */
    public static Backend open(DeviceDriver driver, Route route, Options options, Stage stage) {
        return EngineBackend.open("simulated", driver, List.of(route), options, r -> of(r, options, stage));
    }

    /** Returns what transfers have left behind that belongs to no backend; empty if nothing. */
    public static String leftovers(int filesBefore) {
        int files = BlockLocks.files() - filesBefore;
        return (BusyRegions.ALL.isEmpty() ? "" : "busy regions ")
                + (files == 0 ? "" : files + " files with block locks");
    }

    /** Returns how many files have block locks; a test before, whose lane broke, leaves some by rule 601. */
    public static int filesWithLocks() {
        return BlockLocks.files();
    }

    private static Lanes of(Route route, Options options, Stage stage) {
        SteppedLanes all = new SteppedLanes(stage.pick);
        for (int i = 0; i < route.lanes(); i++) {
            Lane lane =
                    new Lane(route.openQueue(), LaneLimits.ofBytes(options.get(CommonOptions.LANE_BYTES)), stage.clock);
            CompletableFuture<Void> end = new CompletableFuture<>();
            all.lanes.add(lane);
            all.ends.add(end);
            stage.start.accept(() -> {
                while (!lane.isStopped()) {
                    lane.turn(stage.between.getAsBoolean());
                }
                lane.close();
                end.complete(null);
            });
        }
        return all;
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
        lanes.forEach(Lane::stop);
        return CompletableFuture.allOf(ends.toArray(new CompletableFuture<?>[0]));
    }
}
