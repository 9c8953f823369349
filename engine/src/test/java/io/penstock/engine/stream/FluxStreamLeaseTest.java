// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Chunk;
import io.penstock.ClosedException;
import io.penstock.HostLease;
import io.penstock.engine.FakeBuffer;
import io.penstock.engine.FakeFence;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

class FluxStreamLeaseTest extends StreamFixture {

    @Test
    void aChunkIsOverWhenItsPublisherHasEnded() {
        List<Chunk> chunks = new ArrayList<>();
        stream(plan, 100, chunk -> {
            chunks.add(chunk);
            return Mono.just(chunk.view());
        });
        port.runAll();
        assertThat(chunks).hasSize(10).allSatisfy(chunk -> {
            assertThatThrownBy(chunk::view).isInstanceOf(ClosedException.class);
            assertThatThrownBy(chunk::region).isInstanceOf(ClosedException.class);
            assertThatThrownBy(chunk::retain).isInstanceOf(ClosedException.class);
            assertThatThrownBy(() -> chunk.releaseAfter(new FakeFence())).isInstanceOf(ClosedException.class);
            assertThat(chunk.length()).isEqualTo(100);
        });
    }

    @Test
    void fencesHoldTheirChunkWhileTheStreamContinues() {
        List<FakeFence> fences = new ArrayList<>();
        List<Chunk> chunks = new ArrayList<>();
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> {
            chunks.add(chunk);
            fences.add(new FakeFence());
            return chunk.releaseAfter(fences.get(fences.size() - 1)).thenReturn(chunk.index());
        });
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).as("no buffer is left").containsExactly(0L, 1L, 2L);
        assertThat(first(chunks.get(1))).isEqualTo(100);
        assertThat(fences.get(1).closed).isFalse();
        fences.get(1).pass();
        assertThat(fences.get(1).closed).isTrue();
        assertThatThrownBy(chunks.get(1)::view).isInstanceOf(ClosedException.class);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(0L, 1L, 2L, 3L);
        while (fences.stream().anyMatch(fence -> !fence.signalled)) {
            assertThat(subscriber.isTerminated()).as("a fence is not passed").isFalse();
            List.copyOf(fences).stream().filter(fence -> !fence.signalled).forEach(FakeFence::pass);
            port.runAll();
        }
        assertThat(subscriber.isTerminatedComplete()).isTrue();
        assertThat(fences).hasSize(10).allMatch(fence -> fence.closed);
    }

    @Test
    void retainedLeasesKeepTheirBytesAndTheStreamContinuesWithTheOtherChunks() {
        List<HostLease> kept = new ArrayList<>();
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> {
            if (chunk.index() % 4 == 1) {
                kept.add(chunk.retain());
            }
            return Mono.just(chunk.index());
        });
        port.runAll();
        assertThat(subscriber.getReceivedOnNext())
                .as("one buffer is left for these")
                .hasSize(10);
        assertThat(subscriber.isTerminatedComplete())
                .as("leases do not hold up the end")
                .isTrue();
        assertThat(kept.get(0).view().get(0)).isEqualTo((byte) 100);
        assertThat(kept.get(0).buffer().get(99)).isEqualTo((byte) 199);
        assertThat(port.live()).as("buffers of retained leases").isEqualTo(3);
        kept.forEach(HostLease::close);
        kept.forEach(HostLease::close);
        assertThatThrownBy(kept.get(0)::view).isInstanceOf(ClosedException.class);
    }

    @Test
    void aStreamWithAllBuffersRetainedWaitsUntilOneIsClosed() {
        List<HostLease> kept = new ArrayList<>();
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> {
            kept.add(chunk.retain());
            return Mono.just(chunk.index());
        });
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(3);
        for (int i = 0; i < 10; i++) {
            kept.get(i).close();
            port.runAll();
        }
        assertThat(subscriber.getReceivedOnNext()).hasSize(10);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void leasesThatAPublisherInUseDiscardsAreClosed() {
        List<HostLease> kept = new ArrayList<>();
        TestSubscriber<HostLease> subscriber = stream(plan, 100, chunk -> {
            kept.add(chunk.retain());
            return Mono.just(kept.get(kept.size() - 1)).filter(lease -> false);
        });
        port.runAll();
        assertThat(kept).hasSize(10);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void aLeaseThatIsEmittedAfterTheCancelIsClosed() {
        TestPublisher<HostLease> use = TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
        List<HostLease> kept = new ArrayList<>();
        List<Object> discarded = new ArrayList<>();
        TestSubscriber<HostLease> subscriber = TestSubscriber.create();
        new FluxStream<HostLease>(port, plan, chunk -> {
                    kept.add(chunk.retain());
                    return use.flux();
                })
                .doOnDiscard(Object.class, discarded::add)
                .subscribe(subscriber);
        port.runAll();
        subscriber.cancel();
        use.next(kept.get(0));
        assertThat(discarded).as("the subscriber's own hook").containsExactly(kept.get(0));
        assertThatThrownBy(kept.get(0)::view).isInstanceOf(ClosedException.class);
    }

    @Test
    void memoryThatTheProcessorCannotAddressHasNoView() {
        port.visible = false;
        List<Class<?>> errors = new ArrayList<>();
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> {
            try (HostLease lease = chunk.retain()) {
                assertThatThrownBy(lease::view).isInstanceOf(IllegalStateException.class);
            }
            try {
                chunk.view();
            } catch (IllegalStateException e) {
                errors.add(e.getClass());
            }
            return Mono.just(1L);
        });
        port.runAll();
        assertThat(errors).hasSize(10);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void poisonFillsAChunkWhenItsLeaseIsOver() {
        port.poisoning = true;
        List<HostLease> kept = new ArrayList<>();
        stream(plan.depth(1), 100, chunk -> {
            kept.add(chunk.retain());
            return Mono.just(1L);
        });
        port.runAll();
        FakeBuffer buffer = port.buffers.get(0);
        assertThat(buffer.bytes[99]).as("still leased").isEqualTo((byte) 99);
        kept.get(0).close();
        assertThat(buffer.bytes).containsOnly(Leases.POISON);
        while (port.live() > 0) {
            port.runAll();
            kept.forEach(HostLease::close);
        }
    }
}
