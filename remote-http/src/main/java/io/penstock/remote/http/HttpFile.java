// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http;

import io.penstock.NativeError;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.remote.RemoteProvider;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A file behind a URI: its length and its version, which every range must be of. */
final class HttpFile implements AsyncFile {

    private static final int MOST_REDIRECTIONS = 5;

    private final URI uri;
    private final RangeReader reader;
    private final Runnable closer;
    private final long size;
    private final Version version;

    /**
     * What tells two versions of a file apart.
     *
     * @param etag its entity tag; null if the server sends none
     * @param modified its Last-Modified; null if the server sends none
     */
    record Version(@Nullable String etag, @Nullable String modified, long size) {

        /** Returns the request headers by which a server refuses to send another version; may be empty. */
        String conditions() {
            if (etag != null && !etag.startsWith("W/")) { // If-Match never matches a weak tag (RFC 9110, 13.1.1)
                return "If-Match: " + etag + "\r\n";
            }
            return modified == null ? "" : "If-Unmodified-Since: " + modified + "\r\n";
        }

        static Version of(ResponseHead head) {
            return new Version(head.value("etag"), head.value("last-modified"), head.totalBytes());
        }
    }

    private HttpFile(URI uri, RangeReader reader, Runnable closer, Version version) {
        this.uri = uri;
        this.reader = reader;
        this.closer = closer;
        this.size = version.size;
        this.version = version;
    }

    /**
     * Opens a file by a request of its first byte: unlike HEAD, what a presigned URI allows.
     *
     * @param closer called when it is closed
     */
    static HttpFile open(URI uri, RangeReader reader, Runnable closer) throws IOException {
        URI at = uri;
        for (int redirections = 0; redirections <= MOST_REDIRECTIONS; redirections++) {
            ResponseHead head = reader.first(at);
            switch (head.status()) {
                case 206 -> {
                    if (head.totalBytes() < 0) {
                        throw failed(at, head, "the server does not tell the length of the file");
                    }
                    return new HttpFile(at, reader, closer, Version.of(head));
                }
                case 416 -> { // no first byte
                    if (head.totalBytes() == 0) {
                        return new HttpFile(at, reader, closer, Version.of(head));
                    }
                    throw failed(at, head, "");
                }
                case 301, 302, 303, 307, 308 -> at = redirected(at, head);
                case 200 -> {
                    if ("0".equals(head.value("content-length"))) {
                        return new HttpFile(at, reader, closer, new Version(null, null, 0));
                    }
                    throw failed(at, head, "the server does not send ranges");
                }
                case 404, 410 -> throw new NoSuchFileException(RemoteProvider.name(at), null, head.toString());
                case 401, 403 -> throw new AccessDeniedException(RemoteProvider.name(at), null, head.toString());
                default -> throw failed(at, head, "");
            }
        }
        throw new IOException(
                "opening " + RemoteProvider.name(uri) + " was redirected more than " + MOST_REDIRECTIONS + " times");
    }

    private static URI redirected(URI from, ResponseHead head) throws IOException {
        String location = head.value("location");
        if (location == null) {
            throw failed(from, head, "without a location");
        }
        URI to;
        try {
            to = from.resolve(location);
        } catch (IllegalArgumentException e) {
            throw failed(from, head, "to a location that is no URI");
        }
        String scheme = Objects.requireNonNullElse(to.getScheme(), "");
        boolean secure = scheme.equalsIgnoreCase("https");
        if (to.getHost() == null
                || (!secure
                        && !(scheme.equalsIgnoreCase("http") && from.getScheme().equalsIgnoreCase("http")))) {
            throw failed(from, head, "to " + RemoteProvider.name(to) + ", which is not followed");
        }
        return to;
    }

    private static IOException failed(URI uri, ResponseHead head, String note) {
        return new NativeException("opening " + RemoteProvider.name(uri), head.failure(note));
    }

    URI uri() {
        return uri;
    }

    Version version() {
        return version;
    }

    /** Returns why a response is not the range asked for; null if it is. */
    @Nullable
    NativeFailure refusal(ResponseHead head, long from, long bytes) {
        if (head.status() == 412) {
            return changed(head);
        }
        if (head.status() == 206 || head.status() == 416) {
            Version sent = Version.of(head);
            boolean other = !Objects.equals(sent.etag, version.etag)
                    || (version.etag == null && !Objects.equals(sent.modified, version.modified))
                    || sent.size != size;
            if (other) {
                return changed(head);
            }
        }
        if (head.status() != 206) {
            return head.failure("");
        }
        return head.isRange(from, bytes)
                ? null
                : new NativeFailure(
                        new NativeError("GET", 206, "PARTIAL_CONTENT"),
                        NativeFailure.Kind.PERMANENT,
                        "the server sent another range than bytes " + from + " to " + (from + bytes - 1) + ": "
                                + head.value("content-range"));
    }

    private static NativeFailure changed(ResponseHead head) {
        return new NativeFailure(
                head.failure("").error(),
                NativeFailure.Kind.PERMANENT,
                "the file has changed on its host since it was opened");
    }

    @Override
    public Runnable read(long offset, ByteBuffer to, Consumer<@Nullable Throwable> ended) {
        return reader.read(this, offset, to, ended);
    }

    /** {@inheritDoc} The URI after redirections, and the version. */
    @Override
    public Object identity() {
        return new Identity(uri, version);
    }

    private record Identity(URI uri, Version version) {}

    @Override
    public long size() {
        return size;
    }

    @Override
    public void close() {
        closer.run();
    }

    @Override
    public String toString() {
        return RemoteProvider.name(uri);
    }
}
