// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class InFlightTest {

    private final Set<Integer> over = new HashSet<>();
    private final List<Integer> asked = new ArrayList<>();
    private final List<Integer> completed = new ArrayList<>();
    private final InFlight<Integer> inFlight = new InFlight<>(this::hasEnded, completed::add);

    private boolean hasEnded(Integer one) {
        asked.add(one);
        return over.contains(one);
    }

    @Test
    void thoseThatEndedBeforeOnePollCompleteInTheOrderOfSubmission() {
        for (int i = 0; i < 4; i++) {
            inFlight.add(i);
        }
        over.addAll(List.of(0, 1, 3));
        inFlight.poll();
        assertThat(completed).containsExactly(0, 1, 3);
        inFlight.poll();
        assertThat(completed).as("once").hasSize(3);
        assertThat(inFlight.isEmpty()).isFalse();
        over.add(2);
        inFlight.poll();
        assertThat(completed).containsExactly(0, 1, 3, 2);
        assertThat(inFlight.isEmpty()).isTrue();
    }

    /** Else the first could be asked too early, end with the second, and seem to end behind it. */
    @Test
    void theLastOneIsPolledFirst() {
        for (int i = 0; i < 3; i++) {
            inFlight.add(i);
        }
        inFlight.poll();
        assertThat(asked).containsExactly(2, 1, 0);
    }

    @Test
    void ofThoseThatEndInOrderNoneIsPolledBehindOneThatHasNotEnded() {
        for (int i = 0; i < 4; i++) {
            inFlight.add(i);
        }
        over.addAll(List.of(0, 1, 3));
        inFlight.look(true);
        assertThat(asked).containsExactly(0, 1, 2);
        assertThat(completed).as("not yet").isEmpty();
        assertThat(inFlight.first()).isEqualTo(2);
        assertThat(inFlight.complete()).isTrue();
        assertThat(completed).containsExactly(0, 1);
        assertThat(inFlight.complete()).as("twice").isFalse();
    }
}
