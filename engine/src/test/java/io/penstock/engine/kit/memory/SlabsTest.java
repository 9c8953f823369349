// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.ClosedException;
import io.penstock.TransientStorageException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SlabsTest {
    private final Slabs slabs = new Slabs(true);

    @Test
    void slabsAreAlignedAndDoNotOverlap() {
        Random random = new Random(7);
        TreeMap<Long, Slab> live = new TreeMap<>();
        for (int i = 0; i < 2000; i++) {
            if (!live.isEmpty() && random.nextInt(3) == 0) {
                live.remove(live.ceilingKey(live.firstKey())).free();
            }
            Slab slab = slabs.allocate(1 + random.nextInt(20_000));
            assertThat(slab.hostAddress() % 4096).isZero();
            var below = live.floorEntry(slab.hostAddress() + slab.bytes() - 1);
            if (below != null) {
                assertThat(below.getKey() + below.getValue().bytes()).isLessThanOrEqualTo(slab.hostAddress());
            }
            live.put(slab.hostAddress(), slab);
        }
        assertThat(slabs.liveSlabs()).isEqualTo(live.size());
        assertThat(slabs.liveBytes())
                .isEqualTo(live.values().stream().mapToLong(Slab::bytes).sum());
        live.values().forEach(Slab::free);
        assertThat(slabs.closeAndCount()).isZero();
        assertThat(slabs.liveBytes()).isZero();
        assertThat(slabs.mappedBytes()).isZero();
    }

    @Test
    void freedMemoryIsPoisonedAndReused() {
        Slab first = slabs.allocate(5000);
        long address = first.hostAddress();
        ByteBuffer stale = first.buffer(0, 5000).put(4999, (byte) 1);
        first.free();
        assertThat(stale.get(4999)).isEqualTo(Slabs.POISON);
        assertThat(slabs.allocate(8192).hostAddress()).isEqualTo(address);
    }

    @Test
    void aWriteAfterTheFreeIsCounted() {
        List<ByteBuffer> stale = new ArrayList<>();
        List<Slab> freed = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Slab slab = slabs.allocate(200_000);
            freed.add(slab);
            stale.add(slab.buffer(0, 200_000));
        }
        freed.forEach(Slab::free);
        assertThat(slabs.overwritten()).isZero();
        stale.get(0).put(199_999, (byte) 1);
        assertThat(slabs.overwritten()).as("seen in memory that is free").isEqualTo(1);
        stale.get(2).put(0, (byte) 1);
        assertThat(slabs.allocate(200_000).hostAddress()).isEqualTo(freed.get(2).hostAddress());
        assertThat(slabs.overwritten()).as("and in memory that is used again").isEqualTo(2);
        Slabs other = new Slabs(true);
        Slab slab = other.allocate(4096);
        ByteBuffer late = slab.buffer(0, 4096);
        slab.free();
        late.put(7, (byte) 0);
        other.trim();
        assertThat(other.overwritten()).as("and in memory that was unmapped").isEqualTo(1);
    }

    @Test
    void aSecondFreeDoesNothing() {
        Slab slab = slabs.allocate(4096);
        slab.free();
        Slab next = slabs.allocate(4096);
        slab.free();
        assertThat(slabs.liveSlabs()).isEqualTo(1);
        assertThat(slabs.allocate(4096).hostAddress()).isNotEqualTo(next.hostAddress());
        assertThatThrownBy(() -> slab.buffer(0, 1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aLargeSlabIsUsedAgainForOneThatIsNotMuchShorter() {
        long bytes = Slabs.MAX_POOLED_BYTES + (32 << 20);
        Slab slab = slabs.allocate(bytes);
        long address = slab.hostAddress();
        ByteBuffer stale = slab.buffer(bytes - 1, 1);
        slab.free();
        assertThat(stale.get(0)).as("poison").isEqualTo(Slabs.POISON);
        assertThat(slab.mapping().isRetired()).isFalse();
        Slab shorter = slabs.allocate(bytes - (8 << 20));
        assertThat(shorter.hostAddress()).isEqualTo(address);
        Slab another = slabs.allocate(bytes);
        assertThat(another.hostAddress()).as("of memory that is in use").isNotEqualTo(address);
        shorter.free();
        assertThat(slabs.allocate(Slabs.MAX_POOLED_BYTES + 1).hostAddress())
                .as("of a much longer one")
                .isNotEqualTo(address);
        slabs.trim();
        assertThat(slab.mapping().isRetired()).isTrue();
    }

    @Test
    void largeSlabsAreKeptWithinABudgetAndTheOldestGoesFirst() {
        Slabs plain = new Slabs();
        List<Slab> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            all.add(plain.allocate(100L << 20));
        }
        all.forEach(Slab::free);
        assertThat(plain.mappedBytes()).isEqualTo(200L << 20);
        assertThat(all).extracting(slab -> slab.mapping().isRetired()).containsExactly(true, false, false);
        Slab larger = plain.allocate(Slabs.MOST_IDLE_BYTES + 1);
        larger.free();
        assertThat(larger.mapping().isRetired())
                .as("goes back to the system at once")
                .isTrue();
        assertThat(plain.closeAndCount()).isZero();
        assertThat(plain.mappedBytes()).isZero();
    }

    @Test
    void aLargeSlabThatIsOutAtTheCloseGoesBackWhenItIsFreed() {
        Slab slab = slabs.allocate(Slabs.MAX_POOLED_BYTES + 1);
        assertThat(slabs.closeAndCount()).isEqualTo(1);
        slab.free();
        assertThat(slabs.mappedBytes()).isZero();
        assertThat(slab.mapping().isRetired()).isTrue();
    }

    @Test
    void aSlabThatIsOutSurvivesCloseAndTrim() {
        List<Slab> out = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            out.add(slabs.allocate(3L << 20));
        }
        long mapped = slabs.mappedBytes();
        out.remove(2).free();
        slabs.trim();
        assertThat(slabs.mappedBytes()).isLessThan(mapped).isPositive();
        assertThat(slabs.closeAndCount()).isEqualTo(2);
        out.get(0).buffer(0, 10).put(9, (byte) 1);
        out.forEach(Slab::free);
        assertThat(slabs.mappedBytes()).isZero();
        assertThatThrownBy(() -> slabs.allocate(1)).isInstanceOf(ClosedException.class);
    }

    @Test
    void exhaustionIsTransientAndNamesTheCall() {
        for (long bytes : new long[] {1L << 50, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> slabs.allocate(bytes))
                    .isInstanceOf(TransientStorageException.class)
                    .hasMessageMatching("[^-]* [1-9][0-9]* bytes failed: (mmap|malloc) -> ENOMEM \\(12\\)");
        }
        assertThat(slabs.liveSlabs()).isZero();
        assertThatThrownBy(() -> slabs.allocate(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void wrappedMemoryIsSeenAtItsAddress() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(100);
        HostMemory memory = HostMemory.wrap(buffer.position(40));
        memory.buffer(99, 1).put((byte) 5);
        assertThat(buffer.get(99)).isEqualTo((byte) 5);
        HostMemory same = HostMemory.wrap(memory.hostAddress(), 100);
        assertThat(same.buffer(90, 10).get(9)).isEqualTo((byte) 5);
        assertThatThrownBy(() -> same.buffer(91, 10)).isInstanceOf(IndexOutOfBoundsException.class);
        memory.free();
    }
}
