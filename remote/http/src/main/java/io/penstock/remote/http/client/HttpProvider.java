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
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Opens {@code http:} and {@code https:} URIs, and files of the hub, which it has there. */
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

    /**
     * Files of Hugging Face's hub, as its own file system names them: {@code hf://OWNER/REPO@REVISION/FILE}, and
     * {@code hf://datasets/OWNER/REPO/FILE}. Loaded by {@link java.util.ServiceLoader}.
     */
    public static final class Hub extends HttpProvider {

        private static final Pattern FILE =
                Pattern.compile("hf://((?:(?:datasets|spaces)/[^/@]+|(?!datasets/|spaces/)[^/@]+)/[^/@]+)"
                        + "(?:@(refs/[^/]+/[^/]+|(?!refs/)[^/]+))?(/.+)");

        /** Creates a provider. */
        public Hub() {
            super("hf");
        }

        /** {@inheritDoc} The newest revision of the branch main, unless the URI names another. */
        @Override
        public AsyncFile open(URI uri, Set<FileOption> fileOptions, Options options) throws IOException {
            return super.open(resolved(uri, System.getenv()), fileOptions, options);
        }

        /** Returns where the hub has a file, by its documented paths. */
        static URI resolved(URI uri, Map<String, String> environment) throws IOException {
            Matcher file = FILE.matcher(uri.toString());
            if (!file.matches()) {
                throw new IOException("a URI of a file on the hub must be hf://OWNER/REPO@REVISION/FILE, was "
                        + RemoteProvider.name(uri));
            }
            String revision = file.group(2) == null ? "main" : file.group(2).replace("/", "%2F");
            return URI.create(
                    Credentials.hub(environment) + "/" + file.group(1) + "/resolve/" + revision + file.group(3));
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
