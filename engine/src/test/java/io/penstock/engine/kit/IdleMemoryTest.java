// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class IdleMemoryTest {

    private record Memory(long bytes, String name) {}

    private final IdleMemory<Long, Memory> idle = new IdleMemory<>(100, Memory::bytes);

    private boolean keep(Memory memory) {
        return idle.keep(memory.bytes(), memory);
    }

    @Test
    void sameKindComesBackAndTheLastFirst() {
        Memory small = new Memory(10, "small");
        Memory first = new Memory(20, "first");
        Memory last = new Memory(20, "last");
        assertThat(keep(small)).isTrue();
        assertThat(keep(first)).isTrue();
        assertThat(keep(last)).isTrue();
        assertThat(idle.take(20L)).isSameAs(last);
        assertThat(idle.take(20L)).isSameAs(first);
        assertThat(idle.take(20L)).isNull();
        assertThat(idle.take(30L)).isNull();
        assertThat(idle.take(10L)).isSameAs(small);
    }

    @Test
    void keepsUpToItsLimitInBytesAndAgainWhenSomeIsTaken() {
        assertThat(keep(new Memory(60, "a"))).isTrue();
        assertThat(keep(new Memory(41, "b"))).isFalse();
        assertThat(keep(new Memory(40, "c"))).isTrue();
        assertThat(keep(new Memory(1, "d"))).isFalse();
        assertThat(idle.take(41L)).as("what was not kept").isNull();
        assertThat(idle.take(60L)).isNotNull();
        assertThat(keep(new Memory(60, "e"))).isTrue();
        assertThat(keep(new Memory(1, "f"))).isFalse();
    }

    @Test
    void drainHandsOutEverythingAndLeavesRoom() {
        List<Memory> kept = List.of(new Memory(10, "a"), new Memory(10, "b"), new Memory(80, "c"));
        kept.forEach(this::keep);
        List<Memory> freed = new ArrayList<>();
        idle.drain(freed::add);
        assertThat(freed).containsExactlyInAnyOrderElementsOf(kept);
        assertThat(idle.take(10L)).isNull();
        assertThat(keep(new Memory(100, "d"))).isTrue();
    }

    @Test
    void nothingIsLockedWhileDrainedMemoryIsFreed() {
        keep(new Memory(10, "a"));
        idle.drain(memory -> assertThat(Thread.holdsLock(idle)).isFalse());
    }
}
