// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.spi.NativeFailure.Kind;
import org.junit.jupiter.api.Test;

/** Status codes that QEMU does not report, and what the caller can do about them. */
class StatusTest {

    private static final int DO_NOT_RETRY = 1 << 14;

    @Test
    void anErrorOfTheBusCanBeRetriedUnlessTheControllerExcludesIt() {
        assertThat(Status.failure("Read", 0x004).kind()).isEqualTo(Kind.TRANSIENT);
        assertThat(Status.failure("Read", 0x004).toString()).isEqualTo("NVMe Read -> NVME_SC_DATA_XFER_ERROR (4)");
        assertThat(Status.failure("Read", 0x004 | DO_NOT_RETRY).kind()).isEqualTo(Kind.PERMANENT);
    }

    @Test
    void aNamespaceThatBecomesReadyCanBeRetried() {
        assertThat(Status.failure("Read", 0x082).kind()).isEqualTo(Kind.TRANSIENT);
        assertThat(Status.failure("Read", 0x303).kind()).isEqualTo(Kind.TRANSIENT);
    }

    @Test
    void errorsOfTheMediumAndOfTheCallerCannotBeRetried() {
        assertThat(Status.failure("Read", 0x281).kind()).isEqualTo(Kind.PERMANENT);
        assertThat(Status.failure("Write", 0x083).error().symbol()).isEqualTo("NVME_SC_RESERVATION_CONFLICT");
        assertThat(Status.failure("Write", 0x083).kind()).isEqualTo(Kind.PERMANENT);
    }

    @Test
    void anUnknownCodeKeepsItsNumber() {
        assertThat(Status.failure("Read", 0x7c1).toString()).isEqualTo("NVMe Read -> 1985");
    }
}
