// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DoorbellTest {

    @Test
    void ringsWhileNobodyWaitsAreTakenAsOne() {
        Doorbell bell = new Doorbell();
        assertThat(bell.poll()).isFalse();
        bell.ring();
        bell.ring();
        assertThat(bell.poll()).isTrue();
        assertThat(bell.poll()).isFalse();
    }
}
