// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WakeStateTest {

    private final WakeState state = new WakeState();

    @Test
    void aWakeBeforehandPreventsOneWait() {
        assertThat(state.wake()).as("nobody waits").isFalse();
        assertThat(state.wake()).isFalse();
        assertThat(state.beginWait()).as("woken twice, looks around once").isFalse();
        assertThat(state.beginWait()).isTrue();
    }

    @Test
    void oneOfSeveralWakersEndsAWait() {
        assertThat(state.beginWait()).isTrue();
        assertThat(state.isWaiting()).isTrue();
        assertThat(state.wake()).isTrue();
        assertThat(state.isWaiting()).isFalse();
        assertThat(state.wake()).as("the first ends the wait").isFalse();
    }

    @Test
    void aWakeThatEndedAWaitPreventsNoOther() {
        assertThat(state.beginWait()).isTrue();
        assertThat(state.wake()).isTrue();
        state.endWait();
        assertThat(state.beginWait()).isTrue();
    }
}
