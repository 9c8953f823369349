// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.HostLease;
import io.penstock.StreamPlan;
import io.penstock.WritePlan;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.options.HostIo;
import io.penstock.tck.Bench;
import io.penstock.tck.HandoverRules;
import io.penstock.tck.LeakProbe;
import io.penstock.tck.Rules;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * A cancel on another thread amid a copy: nothing is written to memory after it was freed (rule 201), which the subject
 * counts. {@link CancelsInFlight} has the same for what the kernel writes.
 */
class WritesAfterFreeTest implements Rules {

    /** Publishers that copy; the others of {@link #publishers} need not. */
    private static final String[] COPYING = {
        "copy to the view of a buffer",
        "copy under a lease",
        "download",
        "upload",
        "write of bytes",
        "write under a lease"
    };

    private static final ByteBuffer BYTES = ByteBuffer.allocate(4096);

    private final Cancel cancel = new Cancel();

    @Override
    public PoisonedSubject subject() {
        return new PoisonedSubject(HostIo.POOL, new Slabs(true), cancel::copying);
    }

    /** Copies by the application on threads of its own, beside the threads of the backend. */
    private static Map<String, Publisher<?>> publishers(Bench bench) {
        Backend backend = bench.backend();
        Map<String, Publisher<?>> all = new LinkedHashMap<>(HandoverRules.publishers(bench));
        StreamPlan read = StreamPlan.of(bench.file("data", 40_000)).chunkBytes(10_000);
        all.put(
                "copy under a lease",
                backend.stream(
                        read,
                        chunk -> onAnotherThread(() -> {
                            try (HostLease lease = chunk.retain()) {
                                lease.view().write(0, BYTES.duplicate());
                            }
                        })));
        WritePlan written = WritePlan.to(bench.path("lent")).chunkBytes(10_000);
        AtomicInteger chunks = new AtomicInteger();
        all.put(
                "write under a lease",
                backend.write(
                        written,
                        chunk -> onAnotherThread(() -> {
                                    try (HostLease lease = chunk.retain()) {
                                        lease.view().write(0, BYTES.duplicate());
                                    }
                                })
                                .thenReturn(chunks.incrementAndGet() % 3 == 0 ? 0L : 10_000L)));
        all.put(
                "copy to the view of a buffer",
                backend.withBuffer(
                        10_000,
                        buffer -> onAnotherThread(
                                () -> buffer.hostView().orElseThrow().write(0, BYTES.duplicate()))));
        return all;
    }

    private static Mono<Object> onAnotherThread(Runnable copy) {
        return Mono.fromRunnable(copy).subscribeOn(Schedulers.parallel());
    }

    @Test
    void aCancelAmidACopyFreesNothingUnderIt(Bench bench) {
        Set<String> copying = new TreeSet<>();
        publishers(bench).forEach((name, publisher) -> {
            LeakProbe probe = new LeakProbe(bench.subject());
            Map<String, Long> before = probe.count();
            before.put(LeakProbe.THREADS, Long.MAX_VALUE); // pools start them on demand
            for (int copy = 1; cancel.amid(copy, publisher); copy++) {
                copying.add(name);
                try {
                    probe.awaitNoMoreThan(before, Bench.patience());
                } catch (AssertionError e) {
                    throw new AssertionError(name + ", cancelled amid copy " + copy + ": " + e.getMessage(), e);
                }
            }
        });
        assertThat(copying).as("publishers cancelled amid a copy").contains(COPYING);
    }

    /** Cancels a subscription on another thread amid one of its copies. */
    private static final class Cancel {

        private volatile Runnable next = () -> {};

        void copying() {
            next.run();
        }

        /** Subscribes, cancels amid copy {@code number}, from 1; returns whether the publisher made so many. */
        boolean amid(int number, Publisher<?> publisher) {
            Sinks.Empty<Void> ended = Sinks.empty();
            BaseSubscriber<Object> subscriber = new BaseSubscriber<>() {
                @Override
                protected void hookFinally(SignalType type) {
                    ended.tryEmitEmpty();
                }
            };
            AtomicInteger copies = new AtomicInteger();
            next = () -> {
                if (copies.incrementAndGet() == number) {
                    CompletableFuture.runAsync(subscriber::cancel).join();
                    ended.tryEmitEmpty(); // hookFinally is not called before onSubscribe
                }
            };
            HandoverRules.disposing(publisher).subscribe(subscriber);
            Bench.run(ended.asMono());
            next = () -> {};
            return copies.get() >= number;
        }
    }
}
