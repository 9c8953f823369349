// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.Options;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is said of a machine's OpenCL, and of why it cannot be used (rule 501). */
class OpenClProbeTest {

    @BeforeEach
    void find() {
        OpenCls.require();
    }

    private static Availability probe(Options options) {
        return new OpenClProvider().probe(options.resolve(Backends.options()));
    }

    private static void assertAbsent(Options options, String reason, String remedy) {
        Availability absent = probe(options);
        assertThat(absent.available()).as(absent.toString()).isFalse();
        assertThat(absent.reason()).contains(reason);
        assertThat(absent.remedy()).contains(remedy);
        assertThatThrownBy(() -> Backends.open("opencl-ssg", options))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void required_501_platformsAndDevicesAreListedWithWhatTheyCanDo() {
        Availability found = probe(Options.none());
        assertThat(found.available()).as(found.reason()).isTrue();
        assertThat(found.reason()).isNotBlank();
        assertThat(found.details())
                .anyMatch(line -> line.startsWith("library: ") && line.contains("OpenCL"))
                .anyMatch(line -> line.startsWith("platform: "))
                .anyMatch(line -> line.startsWith("device 0: ") && line.contains("staged"))
                .anyMatch(line -> line.endsWith("; chosen"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"77", "no such device", "custom"})
    void required_501_aDeviceThatIsNotThereIsSaidWithThoseThatAre(String wanted) {
        assertAbsent(
                Options.none().with(OpenClOptions.DEVICE, wanted),
                "penstock.opencl.device=" + wanted + " fits none of [device 0: ",
                "penstock.opencl.device");
    }

    @Test
    void required_501_aLibraryBesideTheOneInUseIsRefusedWithBoth() {
        assertAbsent(
                Options.none().with(OpenClOptions.LIBRARY, "/nowhere/libOpenCL.so.1"),
                "/nowhere/libOpenCL.so.1",
                "penstock.opencl.library");
    }

    @Test
    void required_501_aContextThatIsNoneIsTheCallersError() {
        assertThatThrownBy(() -> Backends.open("opencl-ssg", Options.none().with(OpenClOptions.CONTEXT, "mine")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("penstock.opencl.context=mine")
                .hasMessageContaining("the address of a cl_context");
        assertThat(probe(Options.none().with(OpenClOptions.CONTEXT, "-1")).available())
                .isFalse();
    }

    @Test
    void theDeviceIsNamedByTheCapabilities() {
        try (Backend backend = Backends.open("opencl-ssg", Options.none().with(OpenClOptions.DEVICE, "0"))) {
            assertThat(backend.capabilities().device()).isNotBlank();
            assertThat(backend.capabilities().features())
                    .anyMatch(line -> line.startsWith("own context on device 0: "));
        }
    }
}
