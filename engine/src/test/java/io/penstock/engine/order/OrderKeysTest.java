// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.order.OrderKeys.Turn;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OrderKeysTest {

    private final OrderKeys keys = new OrderKeys();
    private final List<String> resumed = new ArrayList<>();

    private Turn turn(Object key, String name) {
        return new Turn(key, () -> resumed.add(name));
    }

    @Test
    void equalKeysRunOneAfterTheOtherInTheOrderOfEntry() {
        Turn first = turn(List.of(1), "first");
        Turn second = turn(List.of(1), "second");
        Turn third = turn(List.of(1), "third");
        assertThat(keys.enter(first)).isTrue();
        assertThat(keys.enter(second)).isFalse();
        assertThat(keys.enter(third)).isFalse();
        assertThat(resumed).isEmpty();
        keys.leave(first);
        assertThat(resumed).containsExactly("second");
        keys.leave(first);
        assertThat(resumed).as("a second leave starts no other turn").containsExactly("second");
        keys.leave(second);
        assertThat(resumed).containsExactly("second", "third");
        keys.leave(third);
        assertThat(keys.size()).as("keys left").isZero();
    }

    @Test
    void differentKeysDoNotWait() {
        assertThat(keys.enter(turn("Aa", "a"))).isTrue();
        assertThat(keys.enter(turn("BB", "b")))
                .as("another key with the same hash")
                .isTrue();
        assertThat(keys.size()).isEqualTo(2);
    }

    @Test
    void aTurnThatHasLeftIsSkipped() {
        Turn first = turn("k", "first");
        Turn second = turn("k", "second");
        Turn third = turn("k", "third");
        Turn fourth = turn("k", "fourth");
        List.of(first, second, third, fourth).forEach(keys::enter);
        keys.leave(second);
        keys.leave(third);
        assertThat(resumed).as("leaving early starts no other turn").isEmpty();
        keys.leave(first);
        assertThat(resumed).containsExactly("fourth");
        keys.leave(fourth);
        assertThat(keys.size()).isZero();
    }

    @Test
    void aQueueWhoseTurnsHaveAllLeftIsRemoved() {
        Turn first = turn("k", "first");
        Turn second = turn("k", "second");
        keys.enter(first);
        keys.enter(second);
        keys.leave(second);
        keys.leave(first);
        assertThat(resumed).isEmpty();
        assertThat(keys.size()).isZero();
        assertThat(keys.enter(turn("k", "later"))).isTrue();
    }
}
