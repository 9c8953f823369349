// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.ClosedException;
import io.penstock.HostLease;
import io.penstock.HostView;
import io.penstock.engine.FakeBuffer;
import io.penstock.engine.FakeFence;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ChunkLeaseTest {

    private final FakeBuffer buffer = new FakeBuffer(100, true);
    private final AtomicInteger ended = new AtomicInteger();
    private final AtomicInteger fences = new AtomicInteger();
    private boolean detecting;
    private final ChunkLease.Lender lender = new ChunkLease.Lender() {
        @Override
        public boolean isDetectingLeaks() {
            return detecting;
        }

        @Override
        public void fenceNoted() {
            fences.incrementAndGet();
        }

        @Override
        public void fenceSignalled() {
            fences.decrementAndGet();
        }

        @Override
        public void leaseEnded(ChunkLease lease) {
            ended.incrementAndGet();
        }
    };

    private ChunkLease lend() {
        return new ChunkLease(lender, buffer, 3, 300, 60);
    }

    @Test
    void aViewShowsTheChunkAndNoMore() {
        ChunkLease chunk = lend();
        HostView view = chunk.view();
        assertThat(view.length()).isEqualTo(60);
        view.put(59, (byte) 7);
        assertThat(view.get(59)).isEqualTo((byte) 7);
        assertThat(buffer.bytes[59]).isEqualTo((byte) 7);
        ByteBuffer copy = ByteBuffer.allocate(60);
        view.read(0, copy);
        view.write(0, copy.flip());
        assertThat(view.buffer(50, 10).get(9)).isEqualTo((byte) 7);
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> view.get(60));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> view.put(-1, (byte) 0));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> view.buffer(50, 11));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> view.read(1, ByteBuffer.allocate(60)));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> view.write(1, ByteBuffer.allocate(60)));
        chunk.release();
    }

    @Test
    void aViewOfALeaseThatIsOverThrowsAndTheNumbersStay() {
        ChunkLease chunk = lend();
        HostView view = chunk.view();
        chunk.release();
        assertThat(ended).hasValue(1);
        assertThat(chunk.index() + chunk.fileOffset() + chunk.length()).isEqualTo(363);
        assertThatThrownBy(view::length)
                .isInstanceOf(ClosedException.class)
                .hasMessageContaining("chunk 3 of 60 bytes");
        assertThatThrownBy(() -> view.get(0)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> view.put(0, (byte) 1)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> view.buffer(0, 1)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> view.read(0, ByteBuffer.allocate(1))).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> view.write(0, ByteBuffer.allocate(1))).isInstanceOf(ClosedException.class);
        ChunkLease next = lend();
        assertThat(next.view().get(0)).as("the same memory, lent again").isZero();
        assertThatThrownBy(() -> view.get(0)).isInstanceOf(ClosedException.class);
        next.release();
    }

    @Test
    void eachRetainedLeaseIsAHoldOfItsOwn() {
        long live = Leases.live();
        ChunkLease chunk = lend();
        HostLease first = chunk.retain();
        HostLease second = chunk.retain();
        HostView view = first.view();
        assertThat(Leases.live()).isEqualTo(live + 3);
        chunk.release();
        first.close();
        first.close();
        assertThatThrownBy(() -> view.get(0)).isInstanceOf(ClosedException.class);
        assertThat(second.view().get(0)).isZero();
        assertThat(chunk.view().get(0))
                .as("the chunk lasts as long as its leases")
                .isZero();
        assertThat(ended).hasValue(0);
        second.close();
        assertThat(ended).hasValue(1);
        assertThat(Leases.live()).isEqualTo(live);
    }

    @Test
    void aFenceIsNotedByTheCallAndClosedWithTheLease() {
        ChunkLease chunk = lend();
        FakeFence first = new FakeFence();
        FakeFence second = new FakeFence();
        chunk.releaseAfter(first);
        chunk.releaseAfter(second).block();
        assertThat(fences).hasValue(2);
        chunk.release();
        first.pass();
        assertThat(first.closed).as("with the lease, not before").isFalse();
        assertThat(ended).hasValue(0);
        second.pass();
        assertThat(ended).hasValue(1);
        assertThat(first.closed && second.closed).isTrue();
        assertThat(fences).hasValue(0);
        assertThatThrownBy(() -> chunk.releaseAfter(new FakeFence())).isInstanceOf(ClosedException.class);
    }

    @Test
    void aLeaseThatIsDroppedUnclosedIsReportedOnce() {
        detecting = true;
        long live = Leases.live();
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            lend().retain().close();
            dropOne();
            long patience = System.nanoTime() + Duration.ofSeconds(30).toNanos();
            while (!log.toString(StandardCharsets.UTF_8).contains("ChunkLeaseTest.dropOne")
                    && System.nanoTime() < patience) {
                System.gc();
                Thread.onSpinWait();
            }
        } finally {
            System.setErr(before);
        }
        assertThat(log.toString(StandardCharsets.UTF_8))
                .containsOnlyOnce("LEAK")
                .contains("chunk 3 of 60 bytes at 300")
                .contains("retained here");
        assertThat(Leases.live()).as("its memory is given back").isEqualTo(live + 1);
    }

    private void dropOne() {
        ChunkLease chunk = lend();
        chunk.retain();
        chunk.release();
    }

    /** A retain and the last release race for ever new chunks: either the hold counts, or it is refused. */
    @Test
    void retainAndTheLastReleaseAgree() throws Exception {
        List<ChunkLease> chunks = new ArrayList<>();
        int rounds = 20_000;
        for (int i = 0; i < rounds; i++) {
            chunks.add(lend());
        }
        CyclicBarrier start = new CyclicBarrier(2);
        FutureTask<Void> retaining = new FutureTask<>(() -> {
            start.await();
            for (ChunkLease chunk : chunks) {
                HostLease lease;
                try {
                    lease = chunk.retain();
                } catch (ClosedException released) {
                    continue;
                }
                lease.view().get(0); // not refused: the hold counts
                lease.close();
            }
            return null;
        });
        new Thread(retaining).start();
        start.await();
        chunks.forEach(ChunkLease::release);
        retaining.get(30, TimeUnit.SECONDS); // throws what the thread has thrown
        assertThat(ended).hasValue(rounds);
        assertThat(chunks).allMatch(ChunkLease::isOver);
    }
}
