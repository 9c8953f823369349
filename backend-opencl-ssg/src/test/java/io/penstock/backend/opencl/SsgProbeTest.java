// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.fakes.FreshSsg;
import io.penstock.backend.opencl.fakes.SsgFake;
import io.penstock.backend.opencl.paths.OpenClProvider;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The list of extensions is no proof; a file object is. */
@ExtendWith(FreshSsg.class)
class SsgProbeTest {

    private static final Options SSG = Options.none().with(OpenClOptions.PATH, OpenClPath.SSG);

    private static String probed(Options options) {
        Availability availability = new OpenClProvider().probe(options.resolve(Backends.options()));
        assertThat(availability.available()).isTrue();
        return availability.details().stream().collect(Collectors.joining("\n"));
    }

    private static Backend open(Options options) {
        return new OpenClProvider().open(options.resolve(Backends.options()));
    }

    private static void assertGoesOtherwise(String why) {
        assertThat(probed(Options.none())).contains("no SSG: ").contains(why);
        assertThatThrownBy(() -> open(SSG))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("penstock.opencl.path=ssg, but ")
                .hasMessageContaining(why);
        try (Backend backend = open(Options.none())) {
            assertThat(backend.capabilities().paths()).doesNotContain(TransferPath.DIRECT);
        }
    }

    @Test
    void aFileObjectProvesIt() {
        SsgFake.set("block_size", 4096);
        assertThat(probed(Options.none())).contains("SSG, proven by a file object, in blocks of 4096 bytes");
        assertThat(SsgFake.held()).as("what the probe leaves").isEmpty();
        try (Backend backend = open(Options.none())) {
            assertThat(backend.capabilities().paths()).contains(TransferPath.DIRECT, TransferPath.STAGED);
        }
    }

    @Test
    void aDeviceThatOnlyReportsTheExtensionDoesNotHaveIt() {
        SsgFake.set("ssg_device", 0);
        assertGoesOtherwise("clCreateSsgFileObjectAMD -> CL_INVALID_DEVICE (-33)");
    }

    /** "In Linux: the UTF-8-encoded name of the file" (3.1). */
    @Test
    void aDriverThatTakesNamesAsTheManualSaysGetsThemSo() throws IOException {
        SsgFake.set("names_utf8", 1);
        assertThat(probed(Options.none())).contains("SSG, proven by a file object");
        try (SsgFixture ssg = SsgFixture.open(SSG)) {
            for (String name : List.of("plain", "\u00e4-\u65e5\u672c-\ud83d\ude00")) {
                byte[] content = BackendFixture.random(4096, 1);
                DeviceBuffer buffer = ssg.buffer(4096);
                long calls = SsgFake.control().calls("clCreateSsgFileObjectAMD");
                assertThat(ssg.read(ssg.file(name, content), buffer).path()).isEqualTo(TransferPath.DIRECT);
                assertThat(BackendFixture.content(buffer)).isEqualTo(content);
                assertThat(SsgFake.control().calls("clCreateSsgFileObjectAMD"))
                        .as("no second call, once that is known")
                        .isEqualTo(calls + 1);
            }
        }
        SsgFake.set("names_utf8", 0); // a process has one driver, but the fakes' changes: found again
        assertThat(probed(Options.none())).contains("SSG, proven by a file object");
    }

    @Test
    void aDriverWithoutTheFunctionsHasItNot() {
        SsgFake.set("functions", 0);
        assertGoesOtherwise("the platform has no clCreateSsgFileObjectAMD");
    }

    @Test
    void aDeviceThatDoesNotReportTheExtensionIsNotQueried() {
        SsgFake.set("extension", 0);
        assertThat(probed(Options.none())).contains("no cl_amd_liquid_flash");
        assertThat(SsgFake.control().calls("clCreateSsgFileObjectAMD")).isZero();
        assertThatThrownBy(() -> open(SSG)).hasMessageContaining("the device has no cl_amd_liquid_flash");
    }

    @Test
    void aFileCanBeNamedIfTheTemporaryFolderIsOnAnotherDisk() throws IOException {
        Options named = SSG.with(
                OpenClOptions.SSG_FILE, SsgFixture.folder().resolve("not-there").toString());
        assertThatThrownBy(() -> open(named)).hasMessageContaining("not-there");
        assertThat(probed(named.with(
                        OpenClOptions.SSG_FILE,
                        SsgFixture.write("proof", new byte[10]).toString())))
                .contains("proven by a file object");
    }

    @Test
    void ssgIsAValueOfTheDeviceOption() {
        Options asked = Options.none().with(OpenClOptions.DEVICE, "ssg");
        assertThat(probed(asked)).contains("; chosen");
        SsgFake.set("extension", 0);
        assertThat(new OpenClProvider().probe(asked.resolve(Backends.options())).available())
                .isFalse();
    }
}
