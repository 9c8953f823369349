// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.engine.kit.remote.RemoteProvider;
import io.penstock.engine.spi.AsyncFile;
import java.net.URI;
import java.nio.file.ProviderNotFoundException;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which provider opens a URI. */
class RemoteProvidersTest {

    private static final URI FILE = URI.create("looked-up://host/file");

    /** Opens nothing. */
    public static final class Provider implements RemoteProvider {

        @Override
        public Set<String> schemes() {
            return Set.of("looked-up");
        }

        @Override
        public AsyncFile open(URI uri, Set<FileOption> fileOptions, Options options) {
            throw new UnsupportedOperationException("opens nothing");
        }
    }

    @Test
    void providersAreLookedUpOnce() {
        RemoteProvider first = RemoteProviders.here().known("looked-up");
        assertThat(first).isInstanceOf(Provider.class);
        assertThat(RemoteProviders.here().known("looked-up")).isSameAs(first);
        assertThat(RemoteProviders.here().known("gopher")).isNull();
    }

    @Test
    void oneThatIsHereLaterIsFoundToo() {
        assertThat(RemoteProviders.later(FILE, "looked-up").get()).isInstanceOf(Provider.class);
    }

    @Test
    void aSchemeThatNoneOpensIsRefusedWithThoseThatThereAre() {
        assertThatThrownBy(() -> RemoteProviders.later(URI.create("gopher://host/file"), "gopher")
                        .get())
                .isInstanceOf(ProviderNotFoundException.class)
                .hasMessageContaining("no module here opens gopher: files (host host);")
                .hasMessageContaining("[file, looked-up]");
        assertThatThrownBy(() -> RemoteProviders.later(URI.create("mailto:somebody"), "mailto")
                        .get())
                .hasMessageStartingWith("no module here opens mailto: files; those here open [file, looked-up]");
    }

    @ParameterizedTest
    @CsvSource({"http, http", "https, http", "s3, s3", "ucx, ucx"})
    void aSchemeOfAModuleThatIsNotHereNamesItsArtifact(String scheme, String module) {
        assertThatThrownBy(() -> RemoteProviders.later(URI.create(scheme + "://host/file"), scheme)
                        .get())
                .hasMessageContaining("no module here opens " + scheme + ": files (host host); add"
                        + " io.penstock:penstock-remote-" + module + "; those here open [file");
    }
}
