// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import io.penstock.NativeError;
import io.penstock.Options;
import io.penstock.engine.kit.remote.RemoteProvider;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.remote.http.HttpOptions;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A file behind a URI: its length and its version, which every range must be of. */
final class HttpFile implements AsyncFile {

    private static final int MOST_REDIRECTIONS = 5;
    private static final String CHANGED = "the file has changed on its host since it was opened: ";
    private static final String NO_RANGES = "the server does not send ranges";
    private static final String NO_STRONG_VALIDATOR =
            "the server sends a weak entity tag and no date, by which ranges must not be joined (RFC 9110, 15.3.7.3);"
                    + " penstock.http.validator=length joins them nevertheless";
    static final int FIRST_BYTES = 2; // some servers take bytes=0-0 for no range

    private final Resource named;
    private volatile Resource resource; // to which the named one leads
    private final URI opened; // of what the named one led to first
    private final HttpOptions.Validator validator;
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
            if (etag != null && !isWeak()) { // If-Match never matches a weak tag (RFC 9110, 13.1.1)
                return Map.of("If-Match", etag);
            }
            return modified == null ? Map.of() : Map.of("If-Unmodified-Since", modified);
        }

        static Version of(ResponseHead head, long size, HttpOptions.Validator by) {
            return new Version(
                    by == HttpOptions.Validator.ETAG ? head.value("etag") : null,
                    by == HttpOptions.Validator.LENGTH ? null : head.value("last-modified"),
                    size);
        }

        /** Returns whether its tag is one that other bytes may have as well (RFC 9110, 8.8.1). */
        private boolean isWeak() {
            return etag != null && etag.startsWith("W/");
        }

        private boolean isSame(Version other) {
            return Objects.equals(etag, other.etag)
                    && ((etag != null && !isWeak()) || Objects.equals(modified, other.modified))
                    && size == other.size;
        }

        /** Returns which validators of another version differ, and which agree. */
        private String difference(Version other) {
            List<String> differ = new ArrayList<>();
            List<String> agree = new ArrayList<>();
            (Objects.equals(etag, other.etag) ? agree : differ).add("the entity tag");
            (Objects.equals(modified, other.modified) ? agree : differ).add("the modification date");
            (size == other.size ? agree : differ).add("the length");
            if (etag == null || other.etag == null) {
                agree.remove("the entity tag");
            }
            if (modified == null || other.modified == null) {
                agree.remove("the modification date");
            }
            return String.join(" and ", differ)
                    + (differ.size() == 1 ? " differs" : " differ")
                    + (agree.isEmpty()
                            ? ""
                            : ", " + String.join(" and ", agree) + (agree.size() == 1 ? " agrees" : " agree"))
                    + (differ.contains("the length") ? "" : "; penstock.http.validator chooses what must agree");
        }
    }

    /** What a URI leads to, and whether its server sends ranges. */
    private record Found(Resource resource, Version version, boolean ranges) {}

    private HttpFile(
            Resource named, Found found, RangeReader reader, Runnable closer, HttpOptions.Validator validator) {
        this.named = named;
        this.resource = found.resource;
        this.opened = found.resource.uri();
        this.reader = reader;
        this.closer = closer;
        this.size = found.version.size;
        this.version = found.version;
        this.inOrder = found.ranges ? null : new InOrder();
        this.validator = validator;
    }

    /** As {@link Resource#open}. A request of the first bytes is, unlike HEAD, what a presigned URI allows. */
    static HttpFile open(Resource resource, Options options, Runnable closer) throws IOException {
        RangeReader reader = RangeReader.open(resource, options);
        HttpOptions.Validator validator = options.get(HttpOptions.VALIDATOR);
        try {
            Found found = find(resource, reader, validator, new Requester());
            found.resource.opened(found.version.size, found.version.conditions(), options);
            return new HttpFile(resource, found, reader, closer, validator);
        } catch (IOException | RuntimeException | Error e) {
            reader.leave();
            throw e;
        }
    }

    private static Found find(Resource named, RangeReader reader, HttpOptions.Validator validator, Requester by)
            throws IOException {
        Resource resource = named;
        for (int redirections = 0; redirections <= MOST_REDIRECTIONS; redirections++) {
            RangeReader.Answer answer = reader.first(resource, true, by);
            if (answer.head().status() == 416 && answer.head().value("content-range") == null) {
                answer = reader.first(resource, false, by); // which may mean anything (RFC 9110, 15.5.17)
            }
            Resource other = resource.elsewhere(answer.head());
            if (other == null) {
                long size = size(resource, answer.head(), answer.failure());
                Version version = Version.of(answer.head(), size, validator);
                boolean ranges = answer.head().status() != 200 || size <= FIRST_BYTES;
                if (ranges && size > FIRST_BYTES && version.isWeak() && version.modified == null) {
                    throw new NativeException(
                            "opening " + resource,
                            new NativeFailure(
                                    answer.failure().error(), NativeFailure.Kind.PERMANENT, NO_STRONG_VALIDATOR));
                }
                return new Found(resource, version, ranges);
            }
            resource = other;
        }
        throw new IOException("opening " + named + " was redirected more than " + MOST_REDIRECTIONS + " times");
    }

    /**
     * Requests the named resource again, since where it led refuses, as it does when its signature has expired; once
     * for all reads that were refused. Blocks.
     *
     * @throws IOException if it leads to nothing, or to another version
     */
    synchronized void findAgain(Resource expired, Requester by) throws IOException {
        if (resource != expired) {
            return;
        }
        Found found;
        try {
            found = find(named, reader, validator, by);
        } catch (FileSystemException e) {
            throw refused(new NativeError("GET", 0, String.valueOf(e.getReason())), "when asked again");
        }
        if (!version.isSame(found.version)) {
            throw refused(new NativeError("GET", 0, "changed"), CHANGED + version.difference(found.version));
        }
        resource = found.resource;
    }

    private NativeException refused(NativeError error, String note) {
        return named.failed(new NativeFailure(error, NativeFailure.Kind.PERMANENT, note));
    }

    /** Returns whether a response is a refusal to which another request of the named resource may be the remedy. */
    boolean hasExpired(ResponseHead head) {
        return resource != named && (head.status() == 401 || head.status() == 403 || head.status() == 410);
    }

    /** Returns what differs from the version that was opened; a refused condition does not tell, so it is asked for. */
    private String difference(ResponseHead head, Requester by) {
        if (head.status() != 412) {
            return version.difference(Version.of(head, head.totalBytes() < 0 ? size : head.totalBytes(), validator));
        }
        try {
            Found now = find(named, reader, validator, by);
            return version.isSame(now.version)
                    ? "the server has refused the condition"
                    : version.difference(now.version);
        } catch (IOException e) {
            return "it can no longer be opened";
        }
    }

    /** Returns the length that the response to a request of the first bytes states. */
    private static long size(Resource resource, ResponseHead head, NativeFailure failure) throws IOException {
        String note = "";
        switch (head.status()) {
            case 206 -> {
                if (head.totalBytes() < 0) {
                    note = "the server does not tell the length of the file";
                } else if (head.bytesOf(0, FIRST_BYTES) < 0) { // nor would other ranges be
                    note = whyNotRange(head, 0, FIRST_BYTES);
                } else {
                    return head.totalBytes();
                }
            }
            case 416 -> {
                if (head.totalBytes() == 0) {
                    return 0;
                }
            }
            case 200 -> {
                if (head.totalBytes() >= 0 && head.coding() == null && head.value("content-range") == null) {
                    return head.totalBytes();
                }
                note = NO_RANGES + ", nor the length of the file as it is";
            }
            case 404, 410 -> throw new NoSuchFileException(resource.toString(), null, failure.toString());
            case 401, 403 -> throw new AccessDeniedException(resource.toString(), null, resource.denied(failure));
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
        return refused(
                new NativeError("GET", 200, "OK"),
                NO_RANGES + ": the file can be read in order only, and byte " + from + " has passed; copy it first");
    }

    /**
     * Returns why a response is not the requested range.
     *
     * @param document as of {@link Resource#symbol}
     * @param by what was refused, which may have to ask what differs
     */
    NativeFailure refusal(ResponseHead head, Supplier<String> document, long from, long bytes, Requester by) {
        NativeFailure failure = resource.failure(head, document);
        if (hasChanged(head)) {
            return new NativeFailure(failure.error(), NativeFailure.Kind.PERMANENT, CHANGED + difference(head, by));
        }
        if (hasExpired(head)) {
            return new NativeFailure(
                    failure.error(), failure.kind(), "by " + resource + ", where a redirection led, twice");
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
        return version.isSame(Version.of(head, head.totalBytes() < 0 ? size : head.totalBytes(), validator));
    }

    @Override
    public Runnable read(long offset, ByteBuffer to, Consumer<@Nullable Throwable> ended) {
        return reader.read(this, offset, to, ended);
    }

    /** {@inheritDoc} The URI after redirections, and the version. */
    @Override
    public Object identity() {
        return new Identity(opened, version);
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
        return named.toString();
    }
}
