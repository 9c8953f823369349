// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SsgHeapTest {

    private final SsgHeap heap = new SsgHeap();

    @Test
    void noMoreIsTakenThanThereIs() {
        assertThat(heap.take(60, 100)).isTrue();
        assertThat(heap.take(41, 100)).isFalse();
        assertThat(heap.take(40, 100)).isTrue();
        assertThat(heap.take(0, 100)).isTrue();
        assertThat(heap.take(1, 100)).isFalse();
        heap.give(60);
        assertThat(heap.used()).isEqualTo(40);
        assertThat(heap.take(60, 100)).isTrue();
    }

    @Test
    void eachTakerHasALimitOfItsOwn() {
        assertThat(heap.take(100, 100)).isTrue();
        assertThat(heap.take(1, 50)).as("more is in use already").isFalse();
        assertThat(heap.take(1, 200)).isTrue();
        assertThat(heap.take(Long.MAX_VALUE, Long.MAX_VALUE)).isFalse();
    }
}
