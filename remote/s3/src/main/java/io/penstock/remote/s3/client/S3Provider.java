// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.NativeError;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.remote.RemoteFileSystemProvider;
import io.penstock.engine.kit.remote.RemoteProvider;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Shared;
import io.penstock.remote.http.client.HttpProxy;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.CRT;
import software.amazon.awssdk.crt.CrtRuntimeException;

/** Opens {@code s3://BUCKET/KEY}. */
public final class S3Provider extends RemoteFileSystemProvider {

    private static final int MOST_LISTING_BYTES = 16 << 20; // of a page; keys have at most 1024 bytes
    private static final String REMEDY =
            "let it unpack its library: set -Daws.crt.lib.dir or -Djava.io.tmpdir to a folder that can be"
                    + " written and allows execution";

    private static final Shared<String, Signer> SIGNERS = new Shared<>(Signer::close); // by region
    private static final Shared<CrtClient.Settings, CrtClient> CLIENTS = new Shared<>(CrtClient::close);

    /** Creates a provider. */
    public S3Provider() {
        super("s3");
    }

    @Override
    public List<Option<?>> options() {
        return S3Options.all();
    }

    /** {@inheritDoc} All but DIRECT. */
    @Override
    public Set<FileOption> fileOptions() {
        return EnumSet.complementOf(EnumSet.of(FileOption.DIRECT));
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException also for a user or a fragment, which a path does not have: it would name another
     *     object
     */
    @Override
    public Path getPath(URI uri) {
        if (uri.getRawFragment() != null
                || String.valueOf(uri.getRawAuthority()).contains("@")) {
            throw new IllegalArgumentException(Address.refusal(uri));
        }
        return super.getPath(uri);
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if the options ask for what objects are not: they are read, or replaced as a
     *     whole
     */
    @Override
    public AsyncFile open(URI uri, Set<FileOption> fileOptions, Options options) throws IOException {
        boolean replaces = fileOptions.contains(FileOption.CREATE_NEW) || fileOptions.contains(FileOption.TRUNCATE);
        if (fileOptions.contains(FileOption.WRITE) && (fileOptions.contains(FileOption.READ) || !replaces)) {
            throw new IllegalArgumentException("opening " + RemoteProvider.name(uri)
                    + ": objects are written as a whole: WRITE needs CREATE_NEW or TRUNCATE, and excludes READ, options were "
                    + fileOptions);
        }
        if (fileOptions.contains(FileOption.WRITE) && uri.getRawQuery() != null) {
            throw new IllegalArgumentException(
                    "opening " + RemoteProvider.name(uri) + ": a version of an object cannot be written");
        }
        return anywhere(uri, options, settings -> open(uri, fileOptions, settings, options));
    }

    /** {@inheritDoc} Objects and folders, of which each page is requested when it is needed. */
    @Override
    public DirectoryStream<Path> newDirectoryStream(Path folder, DirectoryStream.Filter<? super Path> filter) {
        URI uri = folder.toUri();
        Options options = Options.none().resolve(Backends.options());
        return new S3Listing(
                uri, query -> anywhere(uri, options, settings -> listed(uri, query, settings, options)), filter);
    }

    private static String listed(URI uri, String query, CrtClient.Settings settings, Options options)
            throws IOException {
        String region = settings.region();
        Address address = Address.ofFolder(uri, query, settings.endpoint(), region, settings.addressing());
        Signer signer = opened(settings);
        try {
            RequestHeaders headers = RequestHeaders.of(options);
            S3Object listing = new S3Object(address, region, signer, headers, "ListObjectsV2");
            return found(listing, settings, () -> listing.document(options, MOST_LISTING_BYTES));
        } finally {
            if (signer != null) {
                SIGNERS.leave(signer);
            }
        }
    }

    private static @Nullable Signer opened(CrtClient.Settings settings) {
        return settings.credentials() == S3Options.Credentials.CHAIN
                ? SIGNERS.open(settings.region(), () -> signer(settings.region()))
                : null;
    }

    /** What is done at a server. */
    private interface Action<T> {
        T with(CrtClient.Settings settings) throws IOException;
    }

    private interface Request<T> {
        T send() throws IOException;
    }

    /** Does something where the bucket is: in another region, by another name, or both, if a server demands it. */
    private static <T> T anywhere(URI uri, Options options, Action<T> action) throws IOException {
        CrtClient.Settings settings = CrtClient.Settings.of(options);
        try {
            for (boolean moved = false; ; ) {
                try {
                    return action.with(settings);
                } catch (S3Object.OtherRegionException e) {
                    if (moved) {
                        throw e;
                    }
                    moved = true;
                    settings = settings.in(e.region());
                } catch (HostDemandedException e) { // once: no server can demand more than the host's name
                    settings = settings.hosted();
                }
            }
        } catch (CrtRuntimeException e) { // neither signer nor client without certificates, for example
            requireDescriptors(RemoteProvider.name(uri), 1);
            throw unusable(uri, e.errorCode, e.errorName, CRT.awsErrorString(e.errorCode));
        } catch (LinkageError e) { // Reactor would throw it out of the thread, and signal nothing
            throw unusable(uri, 0, "not loaded", reason(e) + "; " + REMEDY);
        }
    }

    /** Throws if this process cannot open so many files: the client would end it, by an assertion in its creation. */
    private static void requireDescriptors(Object name, int count) {
        RuntimeException limit = HostFailure.ofLimitNow(name, count);
        if (limit != null) {
            throw limit;
        }
    }

    private static NativeException unusable(URI uri, int code, String name, String why) {
        return new NativeException(
                "opening " + RemoteProvider.name(uri),
                new NativeFailure(
                        new NativeError("AWS Common Runtime", code, name), NativeFailure.Kind.PERMANENT, why));
    }

    private static String reason(Throwable e) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return String.valueOf(root.getMessage());
    }

    /**
     * Loads the native library, unless it is loaded. It is not when signer and client are made, but when they first
     * call it, and the text of an error is such a call.
     *
     * @throws LinkageError if it cannot be loaded
     */
    private static void load() {
        try {
            CRT.checkLoaded();
        } catch (CrtRuntimeException e) {
            throw new LinkageError(reason(e), e);
        }
    }

    private static AsyncFile open(URI uri, Set<FileOption> fileOptions, CrtClient.Settings settings, Options options)
            throws IOException {
        String region = settings.region();
        Address address = Address.of(uri, settings.endpoint(), region, settings.addressing());
        Signer signer = opened(settings);
        Runnable closer = () -> {
            if (signer != null) {
                SIGNERS.leave(signer);
            }
        };
        try {
            RequestHeaders headers = RequestHeaders.of(options);
            S3Object object = new S3Object(address, region, signer, headers);
            if (!fileOptions.contains(FileOption.WRITE)) {
                return found(object, settings, () -> object.open(options, closer));
            }
            load();
            check(object, fileOptions, settings, options);
            CrtClient.Settings routed = settings.by(HttpProxy.of(address.server()));
            CrtClient client = CLIENTS.open(routed, () -> {
                requireDescriptors(address, routed.descriptors());
                return new CrtClient(routed, signer);
            });
            return new S3Upload(
                    new Multipart(client, address, headers, fileOptions.contains(FileOption.CREATE_NEW)),
                    address,
                    Math.toIntExact(options.get(S3Options.PART_BYTES)),
                    () -> {
                        CLIENTS.leave(client);
                        closer.run();
                    });
        } catch (IOException | RuntimeException | Error e) {
            closer.run();
            throw e;
        }
    }

    private static Signer signer(String region) {
        load();
        return new Signer(region);
    }

    /** Thrown if a server demands the name of the bucket in its own. */
    private static final class HostDemandedException extends IOException {

        private static final long serialVersionUID = 1L;
    }

    private static <T> T found(S3Object object, CrtClient.Settings settings, Request<T> request) throws IOException {
        try {
            return request.send();
        } catch (IOException e) {
            if (object.demandsHost() && settings.addressing() == S3Options.Addressing.AUTO) {
                throw new HostDemandedException();
            }
            throw e;
        }
    }

    /** Checks whether there is such an object, as the options demand. */
    private static void check(
            S3Object object, Set<FileOption> fileOptions, CrtClient.Settings settings, Options options)
            throws IOException {
        try {
            found(object, settings, () -> object.open(options, () -> {})).close();
            if (fileOptions.contains(FileOption.CREATE_NEW)) {
                throw new FileAlreadyExistsException(object.toString());
            }
        } catch (NoSuchFileException e) {
            if (!fileOptions.contains(FileOption.CREATE_NEW) && !fileOptions.contains(FileOption.CREATE)) {
                throw e;
            }
        } catch (AccessDeniedException e) {
            // who may write need not be allowed to read
        }
    }
}
