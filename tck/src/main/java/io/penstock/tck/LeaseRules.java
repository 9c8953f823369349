// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Chunk;
import io.penstock.ClosedException;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FenceSupport;
import io.penstock.FileOption;
import io.penstock.HostLease;
import io.penstock.HostView;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** How long a chunk is leased: by scope, by lease, by fence (rules 201, 203, 204). */
public interface LeaseRules extends Rules {

    private static void needHostView(Bench bench) {
        Assumptions.assumeTrue(bench.backend().capabilities().hostVisible(), "the device's memory has no host view");
    }

    /** Rule 203: a chunk is invalid after its lease. If this fails, check the generation of views and regions. */
    @Test
    default void required_203_aChunkAndItsViewsThrowOnceTheLeaseIsOver(Bench bench) {
        StreamPlan plan =
                StreamPlan.of(bench.file("data", 30_000)).chunkBytes(10_000).depth(2);
        List<Chunk> chunks = new CopyOnWriteArrayList<>();
        List<HostView> views = new CopyOnWriteArrayList<>();
        boolean hostVisible = bench.backend().capabilities().hostVisible();
        Flux<Long> stream = bench.backend().stream(plan, chunk -> {
            chunks.add(chunk);
            if (hostVisible) {
                views.add(chunk.view());
                assertThat(chunk.view().length()).isEqualTo(10_000);
            }
            return Mono.just(chunk.index());
        });
        assertThat(Witness.<Long>of(stream).all()).hasSize(3);
        bench.letOthersRun();
        assertThat(chunks).allSatisfy(chunk -> {
            assertThat(chunk.length()).as("plain numbers stay").isEqualTo(10_000);
            assertThat(chunk.fileOffset()).isEqualTo(chunk.index() * 10_000);
            assertThatThrownBy(chunk::region).isInstanceOf(ClosedException.class);
            assertThatThrownBy(chunk::view).isInstanceOfAny(ClosedException.class, IllegalStateException.class);
            assertThatThrownBy(chunk::retain).isInstanceOfAny(ClosedException.class, IllegalStateException.class);
        });
        assertThat(views).allSatisfy(view -> {
            assertThatThrownBy(() -> view.get(0)).isInstanceOf(ClosedException.class);
            assertThatThrownBy(() -> view.put(0, (byte) 1)).isInstanceOf(ClosedException.class);
            assertThatThrownBy(() -> view.buffer(0, 10)).isInstanceOf(ClosedException.class);
        });
    }

    /** Rule 203: so is a chunk of a cancelled stream. If this fails, check how a cancel ends the lease. */
    @Test
    default void required_203_aCancelEndsTheLease(Bench bench) {
        StreamPlan plan =
                StreamPlan.of(bench.file("data", 30_000)).chunkBytes(10_000).depth(2);
        List<Chunk> chunks = new CopyOnWriteArrayList<>();
        Witness<Long> witness = Witness.of(bench.backend().stream(plan, chunk -> {
            chunks.add(chunk);
            return Mono.just(1L).concatWith(Mono.never());
        }));
        witness.awaitValues(1);
        assertThat(chunks.get(0).region().length()).isEqualTo(10_000);
        witness.cancel();
        bench.letOthersRun();
        assertThatThrownBy(() -> chunks.get(0).region()).isInstanceOf(ClosedException.class);
    }

    /** Rule 201: a lease keeps its bytes after the function has returned. If this fails, check the reference count. */
    @Test
    default void required_201_aRetainedLeaseOutlivesTheFunctionAndTheStream(Bench bench) {
        needHostView(bench);
        Path path = bench.file("data", 40_000);
        StreamPlan plan = StreamPlan.of(path).chunkBytes(10_000).depth(4);
        List<HostLease> leases = new CopyOnWriteArrayList<>();
        Flux<Long> stream = bench.backend().stream(plan, chunk -> {
            leases.add(chunk.retain());
            return Mono.just(chunk.index());
        });
        assertThat(Witness.<Long>of(stream).all()).hasSize(4);
        for (int i = 0; i < 64; i++) {
            bench.filled(10_000, new Pattern(i), 0); // would overwrite the chunks if they were free
        }
        for (int i = 0; i < 4; i++) {
            try (HostLease lease = leases.get(i)) {
                Content.assertHolds(lease.buffer(), Pattern.of(path), i * 10_000L, 10_000);
                assertThat(lease.view().get(7)).isEqualTo(Pattern.of(path).at(i * 10_000L + 7));
            }
        }
        assertThat(leases).allSatisfy(lease -> {
            lease.close();
            assertThatThrownBy(lease::view).isInstanceOf(ClosedException.class);
        });
    }

    /** Leases are counted: each is a separate reference. If this fails, check a close that counts twice. */
    @Test
    default void required_201_aChunkIsFreeWhenTheLastOfItsLeasesIsClosed(Bench bench) {
        needHostView(bench);
        Path path = bench.file("data", 10_000);
        List<HostLease> leases = new CopyOnWriteArrayList<>();
        Flux<Long> stream = bench.backend().stream(StreamPlan.of(path).chunkBytes(10_000), chunk -> {
            for (int i = 0; i < 3; i++) {
                leases.add(chunk.retain());
            }
            return Mono.just(chunk.index());
        });
        Witness.<Long>of(stream).value();
        leases.get(0).close();
        leases.get(0).close();
        leases.get(1).close();
        for (int i = 0; i < 16; i++) {
            bench.filled(10_000, new Pattern(i), 0);
        }
        Content.assertHolds(leases.get(2).buffer(), Pattern.of(path), 0, 10_000);
        leases.get(2).close();
    }

    /**
     * The memory of a stream is bounded: a retained lease is one chunk less. If this fails, check what a stream
     * allocates.
     */
    @Test
    default void required_304_aStreamWhoseChunksAreAllRetainedWaitsForACloseAndContinues(Bench bench) {
        needHostView(bench);
        Path path = bench.file("data", 50_000);
        StreamPlan plan = StreamPlan.of(path).chunkBytes(10_000).depth(2);
        List<HostLease> leases = new CopyOnWriteArrayList<>();
        Witness<Long> witness = Witness.of(bench.backend().stream(plan, chunk -> {
            leases.add(chunk.retain());
            return Mono.just(chunk.index());
        }));
        witness.awaitValues(2);
        bench.letOthersRun();
        assertThat(witness.values()).as("chunks leased while all are retained").hasSize(2);
        for (int i = 0; i < 3; i++) {
            Content.assertHolds(leases.get(i).buffer(), Pattern.of(path), i * 10_000L, 10_000);
            leases.get(i).close();
            witness.awaitValues(1);
        }
        assertThat(witness.all()).hasSize(5);
        leases.forEach(HostLease::close);
    }

    /** A lease may be closed by any thread, in any order, after a cancel too. If this fails, check the late close. */
    @Test
    default void required_201_aLeaseOutlivesTheCancelOfItsStream(Bench bench) {
        needHostView(bench);
        Path path = bench.file("data", 50_000);
        List<HostLease> leases = new CopyOnWriteArrayList<>();
        Witness<Long> witness = Witness.of(
                bench.backend().stream(StreamPlan.of(path).chunkBytes(10_000).depth(3), chunk -> {
                    leases.add(chunk.retain());
                    return chunk.index() < 2 ? Mono.just(chunk.index()) : Mono.never();
                }));
        witness.awaitValues(2);
        witness.cancel();
        bench.letOthersRun();
        for (int i = 0; i < 64; i++) {
            bench.filled(10_000, new Pattern(i), 0); // would overwrite the chunks if they were free
        }
        for (int i = leases.size() - 1; i >= 0; i--) {
            Content.assertHolds(leases.get(i).buffer(), Pattern.of(path), i * 10_000L, 10_000);
            leases.get(i).close();
        }
    }

    /** Leases that Reactor discards are closed. If this fails, check the discard hook in the inner context. */
    @Test
    default void required_201_discardedLeasesAreClosed(Bench bench) {
        needHostView(bench);
        StreamPlan plan =
                StreamPlan.of(bench.file("data", 50_000)).chunkBytes(10_000).depth(2);
        List<HostLease> leases = new CopyOnWriteArrayList<>();
        Flux<HostLease> stream = bench.backend().stream(plan, chunk -> {
            HostLease lease = chunk.retain();
            leases.add(lease);
            return Flux.just(lease).filter(unwanted -> false);
        });
        assertThat(Witness.<HostLease>of(stream).all()).isEmpty();
        assertThat(leases)
                .hasSize(5)
                .allSatisfy(lease -> assertThatThrownBy(lease::view).isInstanceOf(ClosedException.class));
    }

    /** Rule 204: a chunk is reused only after its fence is signalled. If this fails, check releaseAfter. */
    @Test
    default void required_204_aChunkIsNotReusedBeforeItsFenceIsSignalled(Bench bench) throws IOException {
        Gate gate = bench.gate();
        Path path = bench.file("data", 20_000);
        DeviceBuffer other = bench.poisoned(4096);
        // Emitted while the read is held, or, by a staging device, when the read has reached the device.
        boolean early = bench.backend().capabilities().fences() != FenceSupport.AFTER_STAGING;
        Mono<DeviceFence> work =
                bench.backend().enqueue(bench.heldRead(gate, other.all())).cache();
        List<Chunk> chunks = new CopyOnWriteArrayList<>();
        Sinks.Empty<Void> lent = Sinks.empty();
        Witness<Long> witness = Witness.of(bench.backend().stream(
                StreamPlan.of(path).chunkBytes(10_000).depth(1), chunk -> {
                    chunks.add(chunk);
                    lent.tryEmitEmpty();
                    Mono<Long> index = Mono.just(chunk.index());
                    return chunk.index() == 0
                            ? work.flatMap(chunk::releaseAfter).then(index)
                            : index;
                }));
        Bench.run(lent.asMono()); // a busy device may take longer for it than for the other transfers of the bench
        if (early) {
            witness.awaitValues(1);
        }
        bench.letOthersRun();
        assertThat(chunks)
                .as("chunks leased while the fence of the only one is pending")
                .hasSize(1);
        assertThat(Bench.get(StreamRules.isRight(chunks.get(0), Pattern.of(path))))
                .isTrue();
        gate.letReadsEnd(4096);
        assertThat(witness.all()).containsExactly(0L, 1L);
        assertThatThrownBy(() -> chunks.get(0).region()).isInstanceOf(ClosedException.class);
    }

    /**
     * A fence that fails, or was signalled long ago, ends the lease too. If this fails, check what the lease waits for.
     */
    @Test
    default void required_204_signalledAndFailedFencesEndTheLease(Bench bench) {
        Path path = bench.file("data", 60_000);
        StorageFile file = bench.open(bench.file("other", 4096), FileOption.READ);
        Transfer good = Transfer.read(file.all(), bench.poisoned(4096).all());
        Transfer failing = bench.failingWrite();
        Flux<Long> stream =
                bench.backend().stream(StreamPlan.of(path).chunkBytes(10_000).depth(1), chunk -> {
                    Mono<Void> released = chunk.index() % 2 == 0
                            ? bench.backend().enqueue(failing).flatMap(chunk::releaseAfter)
                            : bench.backend()
                                    .enqueue(good)
                                    .flatMap(fence ->
                                            fence.signalled().then(Mono.defer(() -> chunk.releaseAfter(fence))));
                    return released.thenReturn(chunk.index());
                });
        assertThat(Witness.<Long>of(stream).all()).hasSize(6);
    }

    /** Rule 203: a value that waits downstream holds no chunk. If this fails, check what is emitted, and when. */
    @Test
    default void required_203_slowDownstreamHoldsNoMoreThanTheStreamsOwnChunks(Bench bench) {
        Path path = bench.file("data", 100_000);
        Sinks.Empty<Void> go = Sinks.empty();
        Flux<Long> stream = bench.backend().<Long>stream(
                        StreamPlan.of(path).chunkBytes(5000).depth(2), chunk -> Mono.just(chunk.index()))
                .concatMap(index -> go.asMono().thenReturn(index), 1);
        Witness<Long> witness = Witness.of(stream);
        bench.letOthersRun();
        assertThat(witness.values()).isEmpty();
        go.tryEmitEmpty().orThrow();
        assertThat(witness.all()).hasSize(20);
    }
}
