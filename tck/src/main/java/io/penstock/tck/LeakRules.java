// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend.Counters;
import io.penstock.BufferRegion;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * An open backend does not leak (rules 102, 201, 202). The check after every test covers a closed backend; these rules
 * cover an open one.
 */
public interface LeakRules extends Rules {

    /** How long a batch may take to release its resources. */
    Duration SETTLING = Duration.ofSeconds(1);

    /**
     * On a busy machine a pool grows to its 16 bounce buffers one by one, and each step may fall into a separate batch.
     */
    int STEPS = 16;

    /** The number of consecutive batches that must leave nothing: an occasional leak shows in one of them. */
    int QUIET_BATCHES = 8;

    /** Waits until the counters of an open backend meet a condition. */
    private static Counters await(Bench bench, String what, Predicate<Counters> condition) {
        long deadline = System.nanoTime() + Bench.patience().toNanos();
        Counters now = bench.backend().counters();
        while (!condition.test(now)) {
            assertThat(System.nanoTime() - deadline)
                    .as("waited in vain until %s: %s", what, now)
                    .isNegative();
            LockSupport.parkNanos(1_000_000);
            now = bench.backend().counters();
        }
        return now;
    }

    /**
     * Rule 201: what is open is counted, and what a transfer uses until its native end, also after a cancel. If this
     * fails, check the pins of the intake.
     */
    @Test
    default void required_201_countersTellWhatIsOpenAndInUse(Bench bench) throws IOException {
        Gate gate = bench.gate();
        Counters before = await(bench, "nothing is in flight", now -> now.inFlight() == 0 && now.pins() == 0);
        Transfer read = bench.heldRead(gate, bench.poisoned(4096).all());
        Counters open = await(bench, "nothing is in flight", now -> now.inFlight() == 0 && now.pins() == 0);
        assertThat(open.files()).isEqualTo(before.files() + 1);
        assertThat(open.buffers()).isEqualTo(before.buffers() + 1);
        assertThat(open.stagingBuffersInUse()).isBetween(0, open.stagingBuffers());

        Witness<Completion> held = Witness.of(bench.backend().submit(read));
        Counters busy = await(bench, "the transfer is counted", now -> now.inFlight() > 0);
        assertThat(busy.inFlight()).isOne();
        assertThat(busy.pins()).as("of the file and the buffer").isEqualTo(2);
        held.cancel();
        gate.letReadsEnd(4096);
        await(
                bench,
                "nothing is in use",
                now -> now.inFlight() == 0 && now.pins() == 0 && now.stagingBuffersInUse() == 0);

        read.fileRegion(0).file().close();
        ((BufferRegion) read.target()).buffer().close();
        Counters after = bench.backend().counters();
        assertThat(after.files()).isEqualTo(before.files());
        assertThat(after.buffers()).isEqualTo(before.buffers());
    }

    /**
     * Runs {@code work} in batches until the counts do not grow over several in a row: what an I/O queue keeps for
     * reuse stops growing, a leak does not.
     */
    private static void assertNothingStays(Bench bench, Runnable work) {
        LeakProbe probe = new LeakProbe(bench.subject());
        bench.letOthersRun();
        Map<String, Long> before = probe.count();
        int steps = 0;
        for (int quiet = 0; quiet < QUIET_BATCHES; ) {
            for (int i = 0; i < 5; i++) {
                work.run();
            }
            try {
                probe.awaitNoMoreThan(before, SETTLING);
                quiet++;
                // Otherwise a resource released meanwhile, such as a file closed by the garbage collector, would hide a
                // leak.
                Map<String, Long> now = probe.count();
                before.replaceAll((what, count) -> Math.min(count, now.getOrDefault(what, 0L)));
            } catch (AssertionError grown) {
                if (++steps > STEPS) {
                    throw new AssertionError("memory still grows after " + steps + " batches", grown);
                }
                quiet = 0;
                before = probe.count();
            }
        }
    }

    /** Closed files are freed. If this fails, check the native close after the last pin. */
    @Test
    default void required_202_closedFilesAreReleased(Bench bench) {
        Path path = bench.file("data", 4096);
        assertNothingStays(
                bench,
                () -> Bench.run(Flux.range(0, 20)
                        .flatMap(i -> bench.backend()
                                .withFile(
                                        path,
                                        FileOption.READ,
                                        file -> bench.backend()
                                                .withBuffer(
                                                        4096,
                                                        buffer -> bench.backend()
                                                                .submit(Transfer.read(file.all(), buffer.all())))))
                        .then()));
    }

    /** Failures release resources as successes do. If this fails, check the failure path's unpin. */
    @Test
    default void required_102_failuresLeaveNothing(Bench bench) {
        Transfer failing = bench.failingWrite();
        Path missing = bench.path("missing");
        assertNothingStays(bench, () -> {
            Witness.of(bench.backend().submit(failing)).error();
            Witness.of(bench.backend().openFile(missing, FileOption.READ)).error();
        });
    }

    /** Cancels release resources as completions do. If this fails, check the late completion's unpin. */
    @Test
    default void required_102_cancelsLeaveNothing(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 1 << 20), FileOption.READ);
        Random random = new Random(1);
        assertNothingStays(bench, () -> {
            List<Witness<Completion>> reads = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                DeviceBuffer buffer = Bench.get(bench.backend().allocate(50_000));
                reads.add(Witness.of(bench.backend().submit(Transfer.read(file.region(i * 7L, 50_000), buffer.all()))));
                buffer.close();
            }
            reads.forEach(read -> {
                if (random.nextBoolean()) {
                    read.cancel();
                }
            });
        });
    }

    /**
     * A transfer cancelled in flight releases its resources when the device does, including a file closed before. If
     * this fails, check what unpins after a cancel.
     */
    @Test
    default void required_201_cancelledTransfersAreFreedOnceTheDeviceHasReleasedThem(Bench bench) throws IOException {
        Gate gate = bench.gate();
        LeakProbe probe = new LeakProbe(bench.subject());
        bench.letOthersRun();
        Map<String, Long> before = probe.count();
        StorageFile held = bench.openGate(gate, FileOption.READ);
        DeviceBuffer buffer = Bench.get(bench.backend().allocate(4096));
        Witness<Completion> read =
                Witness.of(bench.backend().submit(Transfer.read(held.region(0, 4096), buffer.all())));
        bench.letOthersRun();
        read.cancel();
        buffer.close();
        // A vendor's library may open a file again at its first transfer, and closes that handle with the file.
        held.close();
        gate.letReadsEnd(4096);
        probe.awaitNoMoreThan(before, Bench.patience());
    }

    /**
     * Streams release resources however they terminate. If this fails, check which termination keeps a chunk or the
     * file.
     */
    @Test
    default void required_202_streamsLeaveNothingHoweverTheyEnd(Bench bench) {
        StreamPlan plan =
                StreamPlan.of(bench.file("data", 100_000)).chunkBytes(10_000).depth(3);
        assertNothingStays(bench, () -> {
            Bench.run(bench.backend().stream(plan, chunk -> Mono.just(chunk.index()))
                    .then());
            Bench.run(bench.backend().stream(plan, chunk -> Mono.just(chunk.index()))
                    .take(3)
                    .then());
            Witness.of(bench.backend().stream(plan, chunk -> Mono.error(new IOException("the function's own"))))
                    .error();
        });
    }

    /**
     * I/O queues of unusual sizes are freed as well. If this fails, check what such a queue leaves behind when it is
     * closed.
     */
    @Test
    default void required_601_backendsOfManySizesLeaveNothing(Bench bench) {
        for (int depth : new int[] {1, 2, 64}) {
            Bench sized = bench.with(bench.options().with(CommonOptions.QUEUE_DEPTH, depth));
            sized.letOthersRun();
            sized.backend().close();
        }
    }
}
