// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import io.penstock.NativeError;
import io.penstock.Options;
import io.penstock.engine.kit.remote.RemoteProvider;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A file behind a URI: its length and its version, which every range must be of. */
final class HttpFile implements AsyncFile {

    private static final int MOST_REDIRECTIONS = 5;
    private static final String NO_RANGES = "the server does not send ranges";
    static final int FIRST_BYTES = 2; // some servers take bytes=0-0 for no range

    private final Resource resource;
    private final RangeReader reader;
    private final Runnable closer;
    private final long size;
    private final Version version;
    private final @Nullable InOrder inOrder;

    /**
     * The validators of a version of a file (RFC 9110, 8.8).
     *
     * @param etag its entity tag; null if the server sends none
     * @param modified its Last-Modified; null if the server sends none
     */
    record Version(@Nullable String etag, @Nullable String modified, long size) {

        /** Returns the request headers by which a server refuses to send another version; may be empty. */
        Map<String, String> conditions() {
            if (etag != null && !etag.startsWith("W/")) { // If-Match never matches a weak tag (RFC 9110, 13.1.1)
                return Map.of("If-Match", etag);
            }
            return modified == null ? Map.of() : Map.of("If-Unmodified-Since", modified);
        }

        static Version of(ResponseHead head, long size) {
            return new Version(head.value("etag"), head.value("last-modified"), size);
        }
    }

    private HttpFile(
            Resource resource, RangeReader reader, Runnable closer, Version version, @Nullable InOrder inOrder) {
        this.resource = resource;
        this.reader = reader;
        this.closer = closer;
        this.size = version.size;
        this.version = version;
        this.inOrder = inOrder;
    }

    /** As {@link Resource#open}. A request of the first bytes is, unlike HEAD, what a presigned URI allows. */
    static HttpFile open(Resource resource, Options options, Runnable closer) throws IOException {
        RangeReader reader = RangeReader.open(resource, options);
        try {
            return open(resource, reader, closer);
        } catch (IOException | RuntimeException | Error e) {
            reader.leave();
            throw e;
        }
    }

    private static HttpFile open(Resource named, RangeReader reader, Runnable closer) throws IOException {
        Resource resource = named;
        for (int redirections = 0; redirections <= MOST_REDIRECTIONS; redirections++) {
            RangeReader.Answer answer = reader.first(resource);
            Resource other = resource.elsewhere(answer.head());
            if (other == null) {
                Version version = version(resource, answer.head(), answer.failure());
                boolean ranges = answer.head().status() != 200 || version.size <= FIRST_BYTES;
                return new HttpFile(resource, reader, closer, version, ranges ? null : new InOrder());
            }
            resource = other;
        }
        throw new IOException("opening " + named + " was redirected more than " + MOST_REDIRECTIONS + " times");
    }

    /** Returns the version that the response to a request of the first bytes states. */
    private static Version version(Resource resource, ResponseHead head, NativeFailure failure) throws IOException {
        String note = "";
        switch (head.status()) {
            case 206 -> {
                if (head.totalBytes() < 0) {
                    note = "the server does not tell the length of the file";
                } else if (head.bytesOf(0, FIRST_BYTES) < 0) { // nor would other ranges be
                    note = whyNotRange(head, 0, FIRST_BYTES);
                } else {
                    return Version.of(head, head.totalBytes());
                }
            }
            case 416 -> {
                // There is no first byte; the length is optional (RFC 9110, 15.5.17).
                if (head.totalBytes() == 0 || head.value("content-range") == null) {
                    return Version.of(head, 0);
                }
            }
            case 200 -> {
                if (head.totalBytes() >= 0 && head.coding() == null && head.value("content-range") == null) {
                    return Version.of(head, head.totalBytes());
                }
                note = NO_RANGES + ", nor the length of the file as it is";
            }
            case 404, 410 -> throw new NoSuchFileException(resource.toString(), null, failure.toString());
            case 401, 403 -> throw new AccessDeniedException(resource.toString(), null, failure.toString());
            default -> {}
        }
        throw new NativeException("opening " + resource, new NativeFailure(failure.error(), failure.kind(), note));
    }

    Resource resource() {
        return resource;
    }

    Version version() {
        return version;
    }

    /** Returns where the reads are served from if the server sends no ranges; null if it does. */
    @Nullable
    InOrder inOrder() {
        return inOrder;
    }

    /** Returns how many bytes of a range, from the first on, a response has; -1 if it is no such range of this file. */
    long bytesOf(ResponseHead head, long from, long bytes) {
        if (!isSame(head)) {
            return -1;
        }
        boolean whole = head.status() == 200 && from == 0 && bytes == size && head.coding() == null;
        return whole ? size : head.status() == 206 ? head.bytesOf(from, bytes) : -1;
    }

    /** Returns why a read of bytes that have passed is refused. */
    NativeException passed(long from) {
        return resource.failed(new NativeFailure(
                new NativeError("GET", 200, "OK"),
                NativeFailure.Kind.PERMANENT,
                NO_RANGES + ": the file can be read in order only, and byte " + from + " has passed; copy it first"));
    }

    /**
     * Returns why a response is not the requested range.
     *
     * @param document as of {@link Resource#symbol}
     */
    NativeFailure refusal(ResponseHead head, Supplier<String> document, long from, long bytes) {
        NativeFailure failure = resource.failure(head, document);
        if (hasChanged(head)) {
            return new NativeFailure(
                    failure.error(),
                    NativeFailure.Kind.PERMANENT,
                    "the file has changed on its host since it was opened");
        }
        return switch (head.status()) {
            case 200 -> new NativeFailure(failure.error(), failure.kind(), NO_RANGES);
            case 206 ->
                new NativeFailure(failure.error(), NativeFailure.Kind.PERMANENT, whyNotRange(head, from, bytes));
            default -> failure;
        };
    }

    private static String whyNotRange(ResponseHead head, long from, long bytes) {
        String coding = head.coding();
        if (coding != null) {
            return "the server sent the range in another coding than identity: " + coding;
        }
        if (head.statedOf(from, bytes) > 0) {
            return "the server sent the range with another Content-Length than " + bytes + ": "
                    + Objects.requireNonNullElse(head.value("content-length"), "none");
        }
        return "the server sent another range than bytes " + from + " to " + (from + bytes - 1) + ": "
                + head.value("content-range");
    }

    private boolean hasChanged(ResponseHead head) {
        return switch (head.status()) {
            case 206 -> !isSame(head);
            case 200 -> inOrder != null && !isSame(head);
            case 412 -> true;
            case 416 -> head.totalBytes() >= 0 && head.totalBytes() != size; // the validators are not of the file
            default -> false;
        };
    }

    private boolean isSame(ResponseHead head) {
        return Objects.equals(head.value("etag"), version.etag)
                && (version.etag != null || Objects.equals(head.value("last-modified"), version.modified))
                && (head.totalBytes() == size || head.totalBytes() < 0);
    }

    @Override
    public Runnable read(long offset, ByteBuffer to, Consumer<@Nullable Throwable> ended) {
        return reader.read(this, offset, to, ended);
    }

    /** {@inheritDoc} The URI after redirections, and the version. */
    @Override
    public Object identity() {
        return new Identity(resource.uri(), version);
    }

    private record Identity(URI uri, Version version) {

        /** Returns it without what may be secret, since attributes of files have it as a text. */
        @Override
        public String toString() {
            return RemoteProvider.name(uri) + ", " + version;
        }
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public void close() {
        if (inOrder != null) {
            inOrder.close();
        }
        reader.leave();
        closer.run();
    }

    @Override
    public String toString() {
        return resource.toString();
    }
}
