// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;

/** The limits are a fraction of the patience that a wait for values has. */
class WitnessTest {

    @Test
    @Timeout(10)
    void valuesThatCannotComeAfterAnErrorAreNotWaitedFor() {
        Witness<Integer> witness =
                Witness.of(Flux.just(1, 2).concatWith(Flux.error(new IllegalStateException("broken"))));
        witness.awaitValues(2);
        assertThatThrownBy(() -> witness.awaitValues(1))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("broken");
    }

    @Test
    @Timeout(10)
    void valuesThatCannotComeAfterTheEndAreNotWaitedFor() {
        Witness<Integer> witness = Witness.of(Flux.just(1, 2));
        assertThatThrownBy(() -> witness.awaitValues(3))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("completions 1");
    }
}
