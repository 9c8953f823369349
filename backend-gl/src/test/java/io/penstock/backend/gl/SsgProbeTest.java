// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Availability;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.backend.gl.fakes.FreshSsg;
import io.penstock.backend.gl.fakes.SsgFake;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.backend.gl.options.GlPath;
import io.penstock.backend.gl.paths.GlProvider;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The reports where the extension is absent, or was not described. */
@ExtendWith(FreshSsg.class)
class SsgProbeTest {

    @BeforeEach
    void openGl() {
        GlSubject.require();
    }

    private static Availability probe(Options options) {
        return new GlProvider().probe(options.resolve(Backends.options()));
    }

    private static void assertRefused(Options options, String reason) {
        Availability availability = probe(options);
        assertThat(availability.available()).isFalse();
        assertThat(availability.reason()).contains(reason);
        assertThatThrownBy(() -> SsgSubject.opened(options))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void unpublishedConstantsAreNamedIfTheyAreMissing() {
        Options nothing = Options.none().with(GlOptions.PATH, GlPath.SSG);
        List<Option<String>> missing = List.of(
                GlOptions.SSG_EXTENSION,
                GlOptions.SSG_BLOCK_SIZE_TOKEN,
                GlOptions.SSG_FILE_SIZE_TOKEN,
                GlOptions.SSG_HANDLE_BITS);
        for (Option<String> option : missing) {
            assertRefused(nothing, option.name());
        }
        assertRefused(
                SsgSubject.said().with(GlOptions.SSG_HANDLE_BITS, ""),
                "did not publish the values for " + GlOptions.SSG_HANDLE_BITS);
    }

    @Test
    void onOtherPathsThatIsADetail() {
        Availability availability = probe(Options.none());
        assertThat(availability.available()).isTrue();
        assertThat(availability.details())
                .anyMatch(line -> line.startsWith("no SSG: AMD did not publish the values for "));
    }

    @Test
    void anExtensionThatWorksIsProvenByAFile() {
        assertThat(probe(SsgSubject.said()).details()).contains("SSG, proven by a GL file, in blocks of 512 bytes");
    }

    @Test
    void anExtensionThatMakesNoFilesIsNotThere() {
        SsgFake.control().fail("glCreateFileAMD", 0, 0);
        assertRefused(SsgSubject.said(), "glCreateFileAMD -> NULL");
    }

    @Test
    void noFunctionsAreLoadedInAContextWithoutTheExtension() {
        Options byEgl =
                SsgSubject.said().with(GlOptions.SSG_LIBRARY, "").with(GlOptions.SSG_EXTENSION, "GL_SOMEBODY_ssg");
        assertRefused(byEgl, "the context has no GL_SOMEBODY_ssg");
    }

    @Test
    void aLibraryWithoutTheFunctionsIsNamed() {
        assertRefused(SsgSubject.said().with(GlOptions.SSG_LIBRARY, "libc.so.6"), "glCreateFileAMD");
        assertRefused(SsgSubject.said().with(GlOptions.SSG_LIBRARY, "/nowhere/libssg.so"), "/nowhere/libssg.so");
    }

    @ParameterizedTest
    @CsvSource({
        "penstock.gl.ssg-handle-bits, 48, 32 or 64",
        "penstock.gl.ssg-block-size-token, GL_FILE_BLOCK_SIZE_AMD, the number of a GLenum"
    })
    void aValueThatIsNoneIsRefusedByItsName(String name, String value, String takes) {
        Option<String> option = name.equals(GlOptions.SSG_HANDLE_BITS.name())
                ? GlOptions.SSG_HANDLE_BITS
                : GlOptions.SSG_BLOCK_SIZE_TOKEN;
        Options wrong = SsgSubject.said().with(option, value);
        assertThat(probe(wrong).reason()).contains(name + "=" + value).contains(takes);
        assertThatThrownBy(() -> SsgSubject.opened(wrong))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(name + "=" + value + ", but it must be " + takes);
    }
}
