// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.remote.RemoteProvider;
import java.net.URI;
import java.nio.file.ProviderNotFoundException;
import java.util.Set;
import org.junit.jupiter.api.Test;

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
        RemoteProvider first = RemoteProviders.of(FILE, "looked-up", null);
        assertThat(first).isInstanceOf(Provider.class);
        assertThat(RemoteProviders.of(FILE, "looked-up", null)).isSameAs(first);
    }

    @Test
    void aSchemeThatNoneOpensIsRefusedWithThoseThatThereAre() {
        assertThatThrownBy(() -> RemoteProviders.of(URI.create("gopher://host/file"), "gopher", null))
                .isInstanceOf(ProviderNotFoundException.class)
                .hasMessageContaining("no module opens gopher: files, of which host has one;")
                .hasMessageContaining("[file, looked-up]");
        assertThatThrownBy(() -> RemoteProviders.of(URI.create("mailto:somebody"), "mailto", null))
                .hasMessageStartingWith("no module opens mailto: files; modules are here for [file, looked-up]");
    }
}
