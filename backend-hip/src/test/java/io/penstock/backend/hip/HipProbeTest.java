// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Availability;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.hip.fakes.HipDouble;
import io.penstock.backend.hip.paths.HipProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the probe reports. */
class HipProbeTest {

    private Options options;

    @BeforeEach
    void find() {
        HipDouble.require();
        HipDouble.reset();
        options = HipSubject.options(HipPath.AUTO);
    }

    @AfterEach
    void reset() {
        HipDouble.reset();
    }

    private Availability probe() {
        return new HipProvider().probe(options.resolve(Backends.options()));
    }

    private void assertAbsent(String reason, String remedy) {
        Availability absent = probe();
        assertThat(absent.available()).as(absent.toString()).isFalse();
        assertThat(absent.reason()).contains(reason);
        assertThat(absent.remedy()).contains(remedy);
        assertThatThrownBy(() -> Backends.open("hip", options))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void required_501_aGpuIsFoundWithoutStartingIt() {
        Availability found = probe();
        assertThat(found.available()).as(found.reason()).isTrue();
        assertThat(found.hardware()).isTrue();
        assertThat(found.reason()).contains("HIP 7.2");
        assertThat(found.details())
                .anyMatch(line -> line.startsWith("runtime: HIP 7.2.0, ") && line.endsWith("libamdhip64.so.7"))
                .anyMatch(line -> line.startsWith("GPU 0: "))
                .anyMatch(line -> line.startsWith("KFD"))
                .anyMatch(line -> line.startsWith("libhipfile: 0.5.0, "))
                .contains("hipFile direct: unknown until its driver is open");
        assertThat(HipDouble.gpu().live("contexts")).isZero();
    }

    @Test
    void required_501_aMissingRuntimeIsReported() {
        options = options.with(HipOptions.LIBAMDHIP64, "/nowhere/libamdhip64.so");
        assertAbsent("no HIP runtime: ", "penstock.hip.libamdhip64");
    }

    @Test
    void required_501_noDeviceIsReported() {
        HipDouble.gpu().set("device_count", 0);
        assertAbsent("no device: hipInit -> hipErrorInvalidDevice (101)", "/dev/kfd");
    }

    @Test
    void required_501_anAbsentGpuIsReportedWithTheCount() {
        options = options.with(HipOptions.DEVICE, 7);
        assertAbsent("there is no GPU 7, the HIP runtime lists 1", "penstock.hip.device");
    }

    @Test
    void required_501_anOldRuntimeIsTooOld() {
        HipDouble.runtime(40_300_000, false);
        assertAbsent("too old: ", "HIP 5.2.0 or newer");
    }
}
