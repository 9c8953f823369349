// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http;

import io.penstock.CommonOptions;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.Shared;
import io.penstock.engine.spi.remote.RemoteProvider;
import java.io.IOException;
import java.net.URI;
import java.util.Set;

/** Opens {@code http:} and {@code https:} URIs whose server sends ranges. */
public final class HttpProvider implements RemoteProvider {

    /** What is shared by the files that were opened with the same options. */
    private record Settings(int connections, int attempts, long timeoutMillis) {}

    private static final Shared<Settings, RangeReader> READERS = new Shared<>(RangeReader::close);

    @Override
    public Set<String> schemes() {
        return Set.of("http", "https");
    }

    @Override
    public AsyncFile open(URI uri, Set<FileOption> fileOptions, Options options) throws IOException {
        if (uri.getHost() == null) {
            throw new IOException("a URI of a file must name a host, was " + HttpFile.name(uri));
        }
        Settings settings = new Settings(
                options.get(CommonOptions.REMOTE_CONNECTIONS),
                options.get(CommonOptions.REMOTE_ATTEMPTS),
                Math.max(1, options.get(CommonOptions.REMOTE_TIMEOUT).toMillis()));
        RangeReader reader = READERS.open(
                settings,
                () -> new RangeReader(settings.connections, settings.attempts, (int)
                        Math.min(settings.timeoutMillis, Integer.MAX_VALUE)));
        try {
            return HttpFile.open(uri, reader, () -> READERS.leave(reader));
        } catch (IOException | RuntimeException e) {
            READERS.leave(reader);
            throw e;
        }
    }
}
