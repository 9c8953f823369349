// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class SlotNumbersTest {

    private final SlotNumbers<String> numbers = new SlotNumbers<>();

    private String add(String name) {
        return numbers.add(number -> name + number);
    }

    @Test
    void slotIsFoundByTheNumberThatItWasMadeWith() {
        assertThat(add("a")).isEqualTo("a0");
        assertThat(add("b")).isEqualTo("b1");
        assertThat(numbers.at(0)).isEqualTo("a0");
        assertThat(numbers.at(1)).isEqualTo("b1");
    }

    @Test
    void numberOfSlotThatIsGoneIsGivenOutAgain() {
        add("a");
        add("b");
        add("c");
        numbers.remove(1);
        assertThat(add("d")).isEqualTo("d1");
        assertThat(numbers.at(1)).isEqualTo("d1");
        assertThat(add("e")).isEqualTo("e3");
        assertThat(numbers.at(2)).isEqualTo("c2");
    }

    @Test
    void failedAllocationGivesItsNumberBack() {
        add("a");
        IllegalStateException none = new IllegalStateException("no memory");
        assertThatThrownBy(() -> numbers.add(number -> {
                    throw none;
                }))
                .isSameAs(none);
        assertThat(add("b")).isEqualTo("b1");
    }

    @Test
    void numberIsTakenWhileItsSlotIsMade() {
        String outer = numbers.add(number -> number + " " + add("inner"));
        assertThat(outer).isEqualTo("0 inner1");
        assertThat(numbers.at(0)).isEqualTo(outer);
    }

    @Test
    void slotThatIsGoneIsNotFound() {
        add("a");
        numbers.remove(0);
        assertThatThrownBy(() -> numbers.at(0)).isInstanceOf(NullPointerException.class);
    }
}
