// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.nvme.NvmeOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What is known of the backend before it is opened. */
class NvmeProviderTest {

    /** Each command would be late. */
    @Test
    void aTimeLimitOfNothingIsRefused() {
        Options options = Options.none().with(NvmeOptions.DEVICE, "0000:04:00.0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Backends.open("nvme", options.with(NvmeOptions.TIMEOUT, Duration.ZERO)))
                .withMessageContaining("penstock.nvme.timeout=0s, but it must be a length of time of at least 1ms");
    }

    @Test
    void theAddressMustBeSet() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Backends.open("nvme"))
                .withMessage(
                        "penstock.nvme.device must be set, to the PCI address of the controller such as 0000:04:00.0:"
                                + " by -Dpenstock.nvme.device=ADDRESS, PENSTOCK_NVME_DEVICE=ADDRESS, or in code");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Backends.open("nvme", Options.none().with(NvmeOptions.DEVICE, "nvme0")))
                .withMessage("penstock.nvme.device must be a PCI address such as 0000:04:00.0, was 'nvme0'");
    }
}
