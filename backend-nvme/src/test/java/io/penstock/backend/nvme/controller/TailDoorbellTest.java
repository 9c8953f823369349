// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.nvme.bus.DmaMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a doorbell that is rung in memory is written to the register. */
class TailDoorbellTest {

    private static final int ENTRIES = 8;
    private static final int AT = 16;
    private static final int REGISTER = 0x1010;

    private final List<Integer> written = new ArrayList<>();

    /** A page. */
    private record Page(ByteBuffer words) implements DmaMemory {

        Page() {
            this(ByteBuffer.allocateDirect(4096).order(ByteOrder.LITTLE_ENDIAN));
        }

        @Override
        public long busAddress() {
            return 0x5000;
        }

        @Override
        public long hostAddress() {
            return 0x7000;
        }

        @Override
        public long bytes() {
            return words.capacity();
        }

        @Override
        public ByteBuffer buffer(long offset, int length) {
            return words.slice((int) offset, length);
        }

        @Override
        public void free() {
            words.putInt(0, -1);
        }
    }

    @Test
    void withoutShadowsEachTailIsWrittenOnce() {
        Page word = new Page();
        word.words.putInt(0, 3); // of an earlier user
        TailDoorbell doorbell = TailDoorbell.polled(word, REGISTER, ENTRIES, written::add);
        assertThat(doorbell.forward()).isZero();
        assertThat(written).isEmpty();
        word.words.putInt(0, 5);
        assertThat(doorbell.forward()).isEqualTo(5);
        assertThat(doorbell.forward()).isEqualTo(5);
        word.words.putInt(0, 1); // around the queue
        assertThat(doorbell.forward()).isOne();
        assertThat(written).containsExactly(5, 1);
        assertThat(doorbell.isShadow()).isFalse();
        assertThat(doorbell.register()).isEqualTo(REGISTER);
        doorbell.free();
        assertThat(word.words.getInt(0)).as("freed").isEqualTo(-1);
    }

    @Test
    void aTailThatIsNoIndexOfAnEntryIsIgnored() {
        Page word = new Page();
        TailDoorbell doorbell = TailDoorbell.polled(word, REGISTER, ENTRIES, written::add);
        for (int tail : new int[] {ENTRIES, -1, 1 << 16}) {
            word.words.putInt(0, tail);
            assertThat(doorbell.forward()).isZero();
        }
        assertThat(written).isEmpty();
    }

    @Test
    void withShadowsATailIsWrittenIfTheControllerHasStoppedToLook() {
        Page words = new Page();
        Page events = new Page();
        TailDoorbell doorbell = TailDoorbell.shadow(words, events, AT, REGISTER, ENTRIES, written::add);
        words.words.putInt(AT, 2);
        events.words.putInt(AT, 2); // it has read 2 by itself
        assertThat(doorbell.forward()).isEqualTo(2);
        assertThat(written).isEmpty();
        words.words.putInt(AT, 4);
        assertThat(doorbell.forward()).isEqualTo(4);
        assertThat(written).containsExactly(4);
        assertThat(doorbell.isShadow()).isTrue();
        assertThat(doorbell.hostAddress()).isEqualTo(0x7000 + AT);
        assertThat(doorbell.busAddress()).isEqualTo(0x5000 + AT);
        doorbell.free();
        assertThat(words.words.getInt(0)).as("the page is the controller's").isZero();
    }
}
