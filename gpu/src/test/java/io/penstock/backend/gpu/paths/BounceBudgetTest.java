// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BounceBudgetTest {

    private static final long MIB = 1 << 20;

    @Test
    void theSegmentsOnTheGpuAreCounted() {
        BounceBudget.Claim budget = claim(new BounceBudget(MIB, 4, new long[] {16 * MIB}, new long[] {100}));
        assertThat(budget.take(3 * MIB)).isTrue();
        assertThat(budget.take(MIB + 1)).as("two segments, where one is left").isFalse();
        assertThat(budget.take(MIB)).isTrue();
        assertThat(budget.take(1)).isFalse();
        budget.give(3 * MIB);
        assertThat(budget.take(MIB + 1)).isTrue();
    }

    @Test
    void slabsOfEachSizeAreCountedByThemselves() {
        BounceBudget.Claim budget = claim(new BounceBudget(MIB, 1000, new long[] {4096, MIB}, new long[] {2, 1}));
        assertThat(budget.take(4096)).isTrue();
        assertThat(budget.take(100)).isTrue();
        assertThat(budget.take(1)).as("both small slabs are taken").isFalse();
        assertThat(budget.take(4097)).isTrue();
        assertThat(budget.take(MIB)).as("the large slab is taken").isFalse();
        budget.give(100);
        assertThat(budget.take(1)).isTrue();
    }

    @Test
    void anEntryThatNeedsMoreThanTheBudgetIsSubmittedAlone() {
        BounceBudget.Claim budget = claim(new BounceBudget(MIB, 2, new long[] {4096, MIB}, new long[] {2, 2}));
        assertThat(budget.take(5 * MIB)).isTrue();
        assertThat(budget.take(MIB)).isFalse();
        budget.give(5 * MIB);
        assertThat(budget.take(MIB)).isTrue();
        assertThat(budget.take(5 * MIB)).isFalse();
    }

    private static BounceBudget.Claim claim(BounceBudget budget) {
        return budget.claim(0, () -> {
            throw new AssertionError("woken by itself");
        });
    }

    @Test
    void slabsAreSharedByAllGpusAndEachHasSegmentsOfItsOwn() {
        BounceBudget budget = new BounceBudget(MIB, 1, new long[] {MIB}, new long[] {3});
        BounceBudget.Claim first = budget.claim(0, () -> {});
        BounceBudget.Claim beside = budget.claim(0, () -> {});
        BounceBudget.Claim second = budget.claim(1, () -> {});
        assertThat(first.take(MIB)).isTrue();
        assertThat(beside.take(MIB)).as("of the same GPU's cache").isFalse();
        beside.withdraw();
        assertThat(second.take(MIB)).isTrue();
        BounceBudget.Claim third = budget.claim(2, () -> {});
        assertThat(third.take(MIB)).isTrue();
        assertThat(budget.claim(3, () -> {}).take(MIB)).as("a fourth slab").isFalse();
    }

    @Test
    void theLongestWaiterIsWokenFirstAndIsNotOvertaken() {
        BounceBudget budget = new BounceBudget(MIB, 4, new long[] {MIB}, new long[] {4});
        List<String> woken = new ArrayList<>();
        BounceBudget.Claim holder = budget.claim(0, () -> woken.add("holder"));
        BounceBudget.Claim first = budget.claim(0, () -> woken.add("first"));
        BounceBudget.Claim second = budget.claim(0, () -> woken.add("second"));
        assertThat(holder.take(3 * MIB)).isTrue();
        assertThat(first.take(2 * MIB)).isFalse();
        assertThat(second.take(MIB)).as("there is room, but another waits").isFalse();
        assertThat(holder.take(MIB)).isFalse();
        assertThat(woken).isEmpty();
        holder.give(3 * MIB);
        assertThat(woken).containsExactly("first");
        assertThat(second.take(MIB)).isFalse();
        assertThat(first.take(2 * MIB)).isTrue();
        assertThat(woken).as("there may be more room").containsExactly("first", "second");
        assertThat(second.take(MIB)).isTrue();
        assertThat(woken).containsExactly("first", "second", "holder");
        assertThat(holder.take(MIB)).isTrue();
        assertThat(woken).hasSize(3);
    }

    @Test
    void aTurnThatLeavesLetsTheNextOneStart() {
        BounceBudget budget = new BounceBudget(MIB, 2, new long[] {MIB}, new long[] {2});
        List<String> woken = new ArrayList<>();
        BounceBudget.Claim holder = budget.claim(0, () -> woken.add("holder"));
        BounceBudget.Claim first = budget.claim(0, () -> woken.add("first"));
        BounceBudget.Claim second = budget.claim(0, () -> woken.add("second"));
        assertThat(holder.take(MIB)).isTrue();
        assertThat(first.take(2 * MIB)).isFalse();
        assertThat(second.take(MIB)).isFalse();
        first.withdraw();
        assertThat(woken).containsExactly("second");
        first.withdraw();
        assertThat(woken).hasSize(1);
        assertThat(second.take(MIB)).isTrue();
    }
}
