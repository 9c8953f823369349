// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BounceBudgetTest {

    private static final long MIB = 1 << 20;

    @Test
    void thePiecesOnTheGpuAreCounted() {
        BounceBudget budget = new BounceBudget(MIB, 4, new long[] {16 * MIB}, new long[] {100});
        assertThat(budget.take(3 * MIB)).isTrue();
        assertThat(budget.take(MIB + 1)).as("two pieces, where one is left").isFalse();
        assertThat(budget.take(MIB)).isTrue();
        assertThat(budget.take(1)).isFalse();
        budget.give(3 * MIB);
        assertThat(budget.take(MIB + 1)).isTrue();
    }

    @Test
    void slabsOfEachSizeAreCountedByThemselves() {
        BounceBudget budget = new BounceBudget(MIB, 1000, new long[] {4096, MIB}, new long[] {2, 1});
        assertThat(budget.take(4096)).isTrue();
        assertThat(budget.take(100)).isTrue();
        assertThat(budget.take(1)).as("both small slabs are taken").isFalse();
        assertThat(budget.take(4097)).isTrue();
        assertThat(budget.take(MIB)).as("the large slab is taken").isFalse();
        budget.give(100);
        assertThat(budget.take(1)).isTrue();
    }

    @Test
    void whatNeedsMoreThanThereIsGoesAlone() {
        BounceBudget budget = new BounceBudget(MIB, 2, new long[] {4096, MIB}, new long[] {2, 2});
        assertThat(budget.take(5 * MIB)).isTrue();
        assertThat(budget.take(MIB)).isFalse();
        budget.give(5 * MIB);
        assertThat(budget.take(MIB)).isTrue();
        assertThat(budget.take(5 * MIB)).isFalse();
    }
}
