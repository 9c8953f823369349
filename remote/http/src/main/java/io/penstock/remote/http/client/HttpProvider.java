// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import io.penstock.FileOption;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.kit.remote.HostAndPort;
import io.penstock.engine.kit.remote.RemoteFileSystemProvider;
import io.penstock.engine.kit.remote.RemoteProvider;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.remote.http.HttpOptions;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** Opens {@code http:} and {@code https:} URIs whose server sends ranges. */
public abstract class HttpProvider extends RemoteFileSystemProvider {

    /** Loaded by {@link java.util.ServiceLoader}. */
    public static final class Http extends HttpProvider {
        /** Creates a provider. */
        public Http() {
            super("http");
        }
    }

    /** Loaded by {@link java.util.ServiceLoader}. */
    public static final class Https extends HttpProvider {
        /** Creates a provider. */
        public Https() {
            super("https");
        }
    }

    private HttpProvider(String scheme) {
        super(scheme);
    }

    @Override
    public List<Option<?>> options() {
        return HttpOptions.all();
    }

    @Override
    public AsyncFile open(URI uri, Set<FileOption> fileOptions, Options options) throws IOException {
        if (HostAndPort.of(uri) == null) {
            throw new IOException("a URI of a file must name a host, was " + RemoteProvider.name(uri));
        }
        Credentials credentials = Credentials.of(
                uri, options.get(HttpOptions.HEADERS), System.getenv(), Path.of(System.getProperty("user.home", "")));
        return new Resource(uri, credentials).open(options, () -> {});
    }
}
