// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.context;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WaitBudgetTest {

    private final WaitBudget budget = new WaitBudget(4, 1000);

    @Test
    void commandsAndBytesAreBothBounded() {
        assertThat(budget.take(3, 100)).isTrue();
        assertThat(budget.take(2, 100)).as("too many commands").isFalse();
        assertThat(budget.take(1, 901)).as("too many bytes").isFalse();
        assertThat(budget.take(1, 900)).isTrue();
        assertThat(budget.take(1, 0)).isFalse();
        budget.give(3, 100);
        assertThat(budget.take(3, 100)).isTrue();
    }

    @Test
    void aRequestThatNeverFitsIsRefused() {
        assertThat(budget.take(1, 1001)).isFalse();
        assertThat(budget.take(5, 0)).isFalse();
        assertThat(budget.take(4, 1000)).isTrue();
    }
}
