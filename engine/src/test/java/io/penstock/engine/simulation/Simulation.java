// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.engine.SteppedQueues;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Hooks;
import reactor.core.scheduler.Schedulers;

/**
 * The real driver, planner and operators in a world that one seed decides: kernel, files, memory, time, threads and
 * application. One at a time in a process, since it takes the place of Reactor's schedulers.
 */
public final class Simulation implements AutoCloseable {

    private final SimulatedScheduler scheduler = SimulatedScheduler.install();
    private final List<Throwable> dropped = new ArrayList<>();

    public Simulation() {
        Hooks.onErrorDropped(dropped::add);
    }

    /** Runs one seed; returns the rule that it broke, or null. */
    public @Nullable Throwable run(long seed) {
        return new Run(seed, null).all();
    }

    /** As {@link #run}, and prints what happens, line by line. */
    public @Nullable Throwable tell(long seed, Consumer<String> story) {
        return new Run(seed, story).all();
    }

    @Override
    public void close() {
        Hooks.resetOnErrorDropped();
        Schedulers.resetFactory();
    }

    /** One seed. */
    private final class Run {
        final Chance chance;
        final World world;
        private final SimulatedMemory memory = new SimulatedMemory();
        private final SimulatedFiles files = new SimulatedFiles();
        private final SimulatedKernel kernel;
        private final SteppedQueues.Left before = SteppedQueues.Left.now();
        private final int ioPaths;
        private boolean breaks; // an I/O queue, at some turn

        Run(long seed, @Nullable Consumer<String> story) {
            chance = new Chance(seed);
            world = new World(chance, story);
            kernel = new SimulatedKernel(world, Faults.of(chance), memory, files);
            ioPaths = chance.oneIn(4) ? 2 : 1;
            if (chance.oneIn(4)) {
                kernel.useChannels();
                if (chance.oneIn(2)) {
                    world.interrupts();
                }
            } else if (chance.oneIn(4)) {
                memory.makeOpaque();
            }
            breaks = chance.oneIn(30);
        }

        @Nullable
        Throwable all() {
            Violation.forget();
            dropped.clear();
            scheduler.in(world);
            try {
                play();
                return world.run();
            } catch (Throwable broken) {
                Throwable first = Violation.first();
                return first == null || broken instanceof Violation ? broken : first;
            } finally {
                world.abandon();
                scheduler.in(null);
            }
        }

        private void play() throws Throwable {
            Backend backend;
            try {
                backend = open();
            } catch (PenstockException e) {
                go();
                if (!kernel.hasFailed()) {
                    throw e;
                }
                kernel.checkClosed();
                return;
            }
            Workload workload = new Workload(world, kernel, backend);
            for (int i = chance.between(1, 3); i > 0; i--) {
                workload.open(file(i));
            }
            workload.allocate();
            go();
            world.application(workload::step);
            if (chance.oneIn(3)) {
                world.later(chance.below(20_000), workload::close);
                go();
            } else {
                go();
                if (!world.hasBroken()) { // else some wait behind what the broken I/O queue has left
                    workload.checkEnded();
                    workload.attempts.buffers.forEach(TestBuffer::check);
                    workload.checkAtRest(ioPaths);
                }
                workload.close();
                go();
            }
            workload.close(); // again, or at last
            go();
            workload.closeLeases();
            go();
            check(workload);
        }

        private void check(Workload workload) {
            workload.checkEnded();
            if (world.hasBroken()) {
                SteppedQueues.Left.removeAbandoned();
                SimulatedMemory.leave(); // what was in flight stays as it is (rule 601)
                return;
            }
            workload.checkContent();
            if (!world.queuesHaveEnded()) {
                throw new Violation("601: an I/O queue still runs");
            }
            kernel.checkClosed();
            memory.checkFreed();
            SteppedQueues.Left after = SteppedQueues.Left.now();
            if (!after.equals(before)) {
                throw new Violation("left behind: " + after + ", not " + before);
            }
            for (Throwable drop : dropped) {
                workload.expect("something whose error was dropped", drop, null);
            }
        }

        private void go() throws Throwable {
            Throwable broken = world.run();
            if (broken != null) {
                throw broken;
            }
        }

        private TestFile file(int number) {
            int block = chance.pick(List.of(1, 512, 512, 4096));
            int memoryBlock =
                    kernel.usesChannels() || memory.isOpaque() ? block : chance.pick(List.of(1, 4, 512, 4096));
            int length = chance.between(1, 10) * Math.max(block, 512) + (chance.oneIn(2) ? chance.below(600) : 0);
            TestFile file = new TestFile(files.make("file-" + number, block, memoryBlock, chance.bytes(length)));
            if (!chance.oneIn(3)) {
                file.cut(chance, chance.oneIn(2) ? length - block : length + 10 * block);
            }
            return file;
        }

        private Backend open() {
            Options options = Options.none()
                    .with(CommonOptions.DELIVERY, chance.pick(List.of(CommonOptions.Delivery.values())))
                    .with(CommonOptions.QUEUE_DEPTH, chance.between(1, chance.oneIn(2) ? 8 : 40))
                    .with(CommonOptions.QUEUE_BYTES, 64L << 10)
                    .with(CommonOptions.POISON, chance.oneIn(3))
                    .with(CommonOptions.SEGMENT_BYTES, chance.oneIn(2) ? 4096L : 8192L)
                    .with(HostOptions.IO, kernel.usesChannels() ? HostIo.POOL : HostIo.URING)
                    .with(HostOptions.THREADS, chance.between(1, 4))
                    .with(HostOptions.QUEUES, chance.between(1, 3))
                    .with(HostOptions.ASYNC_BYTES, 8L << 10)
                    .with(HostOptions.REGISTER, !chance.oneIn(3));
            List<Option<?>> known = new ArrayList<>(CommonOptions.all());
            known.addAll(HostOptions.all());
            Options resolved = options.resolve(known);
            long quantum = chance.pick(List.of(1L, 4096L, 1L << 20));
            int bounceBuffers = chance.oneIn(2) ? chance.between(1, 3) : 16;
            var stage = new SteppedQueues.Stage(
                    world.clock(), chance::below, world::start, this::between, quantum, bounceBuffers);
            return SteppedQueues.open(memory, SimulatedPath.open(resolved, kernel, ioPaths), resolved, stage);
        }

        private boolean between() {
            if (chance.oneIn(4)) {
                world.pause();
            }
            if (breaks && chance.oneIn(40)) {
                breaks = false;
                world.breaks();
                throw new SteppedQueues.Bug();
            }
            return !chance.oneIn(6);
        }
    }
}
