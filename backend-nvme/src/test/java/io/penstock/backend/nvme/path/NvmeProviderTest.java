// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.nvme.NvmeOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What is known of the backend before it is opened. */
class NvmeProviderTest {

    private final Options options = Options.none()
            .with(NvmeOptions.DEVICE, "0000:04:00.0")
            .with(NvmeOptions.TIMEOUT, Duration.ZERO)
            .resolve(Backends.options());

    @Test
    void aTimeLimitOfNothingIsToldByTheProbe() {
        assertThat(new NvmeProvider().probe(options).available()).isFalse();
        assertThat(new NvmeProvider().probe(options).reason()).isEqualTo("penstock.nvme.timeout must be more than 0s");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new NvmeProvider().open(options))
                .withMessage("penstock.nvme.timeout must be more than 0s");
    }
}
