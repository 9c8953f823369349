// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.HostLease;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.WritePlan;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A resource has an owner at every moment, also while it passes from one thread to another (rules 102, 201, 202): each
 * publisher is cancelled before each of its tasks, and at thousands of random moments.
 */
public interface HandoverRules extends Rules {

    /** The system property with the number of cancels per publisher; a soak test sets 100,000. */
    String STORM = "penstock.tck.storm";

    /** The longest time from a subscription to its random cancel. */
    int STORM_NANOS = 200_000;

    /** The publishers of a backend by name, each with its own files and buffers. */
    static Map<String, Publisher<?>> publishers(Bench bench) {
        Backend backend = bench.backend();
        Path path = bench.file("handed over", 40_000);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        DeviceBuffer buffer = bench.poisoned(40_000);
        Transfer read = Transfer.read(file.region(0, 4096), buffer.region(0, 4096));
        boolean visible = buffer.hostView().isPresent();
        StreamPlan plan = StreamPlan.of(path).chunkBytes(10_000).depth(2);
        Map<String, Publisher<?>> all = new LinkedHashMap<>();
        all.put("openFile", backend.openFile(path, FileOption.READ));
        all.put("allocate", backend.allocate(1 << 20));
        all.put("withFile", backend.withFile(path, FileOption.READ, opened -> Mono.just(1)));
        all.put("withBuffer", backend.withBuffer(1 << 20, allocated -> Mono.just(1)));
        all.put(
                "withFile and submit",
                backend.withFile(
                        path,
                        FileOption.READ,
                        opened -> backend.withBuffer(
                                4096,
                                allocated -> backend.submit(Transfer.read(opened.region(0, 4096), allocated.all())))));
        all.put("submit", backend.submit(read));
        all.put("submit of many", backend.submit(Flux.just(read, read, read)));
        all.put("enqueue", backend.enqueue(read));
        all.put(
                "enqueue behind a fence",
                Backend.using(backend.enqueue(read), fence -> backend.submit(read.after(fence))));
        all.put("stream", backend.stream(plan, chunk -> Mono.just(chunk.length())));
        all.put("stream of leases", backend.stream(plan, chunk -> visible ? Mono.just(chunk.retain()) : Mono.just(1)));
        all.put(
                "write",
                backend.write(
                        WritePlan.to(bench.path("written")).chunkBytes(10_000).depth(2),
                        WritePlanRules.filling(WriteRules.WRITTEN, 30_000)));
        putBytes(all, bench, plan);
        all.put("sync", file.sync());
        all.put("truncate", file.truncate(40_000));
        all.put("upload", buffer.upload(0, ByteBuffer.allocateDirect(4096)));
        all.put("download", buffer.download(0, ByteBuffer.allocateDirect(4096)));
        return all;
    }

    private static void putBytes(Map<String, Publisher<?>> all, Bench bench, StreamPlan plan) {
        all.put("read of bytes", bench.backend().read(plan));
        WritePlan written = WritePlan.to(bench.path("written")).chunkBytes(10_000);
        Flux<ByteBuffer> bytes = ByteRules.pieces(0, 30_000, 7000);
        all.put("write of bytes", bench.backend().write(written, bytes));
        // Copied outside the turns of the write, so that nothing but a lease keeps a cancel from ending it meanwhile.
        all.put(
                "write of another thread's bytes",
                bench.backend().write(written, bytes.publishOn(Schedulers.parallel())));
    }

    /** Counts open resources, without threads, since pools start them on demand. */
    private static Map<String, Long> open(LeakProbe probe) {
        Map<String, Long> open = probe.count();
        open.put(LeakProbe.THREADS, Long.MAX_VALUE);
        return open;
    }

    /**
     * Runs {@code work} until it leaves nothing open. A pool may grow meanwhile, rarely and by one at a time: work that
     * still leaves something after {@link LeakRules#STEPS} runs leaks.
     */
    private static void assertLeavesNothing(Bench bench, String what, Runnable work) {
        LeakProbe probe = new LeakProbe(bench.subject());
        for (int step = 0; ; step++) {
            Map<String, Long> before = open(probe);
            work.run();
            try {
                probe.awaitNoMoreThan(before, step < LeakRules.STEPS ? LeakRules.SETTLING : Bench.patience());
                return;
            } catch (AssertionError left) {
                if (step == LeakRules.STEPS) {
                    throw new AssertionError(what + ": " + left.getMessage(), left);
                }
            }
        }
    }

    /** Returns a publisher whose values are closed on arrival: the subscriber owns them. */
    static Flux<Object> disposing(Publisher<?> publisher) {
        return Flux.<Object>from(publisher)
                .doOnNext(HandoverRules::dispose)
                .doOnDiscard(HostLease.class, HostLease::close);
    }

    private static void dispose(Object given) {
        if (given instanceof StorageFile file) {
            file.close();
        } else if (given instanceof DeviceBuffer buffer) {
            buffer.close();
        } else if (given instanceof DeviceFence fence) {
            fence.close();
        } else if (given instanceof HostLease lease) {
            lease.close();
        }
    }

    /** Subscribes, runs {@code steps} tasks, cancels; returns whether the publisher terminated before that. */
    private static boolean cancelAfter(int steps, Publisher<?> publisher) {
        try (Steps schedulers = Steps.begin()) {
            Witness<Object> witness = Witness.of(disposing(publisher));
            for (int step = 0; step < steps && !witness.hasEnded(); step++) {
                schedulers.next(witness);
            }
            boolean ended = witness.hasEnded();
            witness.cancel();
            return ended;
        }
    }

    /**
     * Rule 201: a cancel between any two tasks of a publisher leaves nothing behind. If this fails, check the owner of
     * a resource between the task that opens it and the task that delivers it.
     */
    @Test
    default void required_201_aCancelAtAnyStepLeavesNothingOpen(Bench bench) {
        publishers(bench).forEach((name, publisher) -> {
            Bench.run(disposing(publisher).then()); // fills pools
            AtomicBoolean ended = new AtomicBoolean();
            for (int step = 0; !ended.get(); step++) {
                int steps = step;
                assertThat(steps).as("tasks of %s", name).isLessThan(500);
                assertLeavesNothing(
                        bench,
                        name + ", cancelled after " + steps + " tasks",
                        () -> ended.set(cancelAfter(steps, publisher)));
            }
        });
    }

    /**
     * Rule 202: a function that cancels its own subscription. If this fails, check what closes the resource that it was
     * given.
     */
    @Test
    default void required_202_aFunctionThatCancelsLeavesNothingOpen(Bench bench) {
        Path path = bench.file("handed over", 40_000);
        LeakProbe probe = new LeakProbe(bench.subject());
        Bench.run(bench.backend().withFile(path, FileOption.READ, file -> Mono.just(1)));
        Bench.run(bench.backend().withBuffer(4096, buffer -> Mono.just(1)));
        Map<String, Long> before = open(probe);
        for (boolean lazily : new boolean[] {false, true}) {
            AtomicReference<Witness<?>> witness = new AtomicReference<>();
            Mono<Integer> cancelling = Mono.fromCallable(() -> cancel(witness));
            Mono<Integer> opening = bench.backend().withFile(path, FileOption.READ, file -> {
                return lazily ? cancelling : Mono.just(cancel(witness));
            });
            Mono<Integer> allocating = bench.backend().withBuffer(4096, buffer -> {
                return lazily ? cancelling : Mono.just(cancel(witness));
            });
            for (Mono<Integer> mono : List.of(opening, allocating)) {
                Witness<Integer> cancelled = Witness.of(mono, 0);
                witness.set(cancelled);
                cancelled.request(1);
                probe.awaitNoMoreThan(before, Bench.patience());
                bench.letOthersRun();
                assertThat(cancelled.terminals()).as("signals after the cancel").isZero();
            }
        }
        probe.awaitNoMoreThan(before, Bench.patience());
    }

    private static int cancel(AtomicReference<Witness<?>> witness) {
        Objects.requireNonNull(witness.get(), "the function ran before demand").cancel();
        return 1;
    }

    /**
     * Rules 102, 201: cancels at random moments leave nothing behind. If this fails and the rule above does not, two
     * threads compete for a resource other than by one atomic step.
     */
    @Test
    @Timeout(3600) // 100,000 cancels of each take minutes; every wait is bounded by the patience of the bench
    default void required_201_aStormOfCancelsLeavesNothingOpen(Bench bench) {
        int cancels = Integer.getInteger(STORM, 150);
        Random random = new Random(201);
        publishers(bench).forEach((name, publisher) -> {
            Flux<Object> disposing = disposing(publisher);
            for (int i = 0; i < 50; i++) { // fills pools
                Witness.of(disposing).cancel();
            }
            Bench.run(disposing.then());
            assertLeavesNothing(bench, name + ", cancelled " + cancels + " times", () -> {
                for (int i = 0; i < cancels; i++) {
                    Witness<Object> witness = Witness.of(disposing);
                    long moment = System.nanoTime() + random.nextInt(STORM_NANOS);
                    while (System.nanoTime() - moment < 0) {
                        Thread.onSpinWait();
                    }
                    witness.cancel();
                }
            });
        });
    }
}
