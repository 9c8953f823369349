// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import io.penstock.NativeError;
import io.penstock.Options;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.remote.HostAndPort;
import io.penstock.engine.kit.remote.RemoteProvider;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.security.InvalidAlgorithmParameterException;
import java.security.cert.CertificateException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A file on a server, as requests for its ranges address it. This class is plain HTTP; a service that signs requests,
 * or has errors and redirections of its own, is a subclass.
 *
 * <p>Thread-safe.
 */
public class Resource {

    private static final String NOT_OF_URIS = " \"<>\\^`{|}";

    private final URI uri;
    private final String operation;
    private final String name;
    private final Credentials credentials;

    Resource(URI uri, Credentials credentials) {
        this(uri, "GET", RemoteProvider.name(uri), credentials);
    }

    /**
     * Creates a resource; requests nothing.
     *
     * @param uri where requests are sent to, {@code http:} or {@code https:}
     * @param operation what the service calls a request for a range, for messages
     * @param name what messages call the resource; has no secrets
     */
    protected Resource(URI uri, String operation, String name) {
        this(uri, operation, name, Credentials.NONE);
    }

    private Resource(URI uri, String operation, String name, Credentials credentials) {
        this.uri = uri;
        this.operation = operation;
        this.name = name;
        this.credentials = credentials;
    }

    /**
     * Opens it as a file, by a request of its first bytes; blocks.
     *
     * @param options with {@link io.penstock.CommonOptions} for other hosts
     * @param closer called when the file is closed, but not if this throws
     * @throws IOException as {@link RemoteProvider#open} does
     */
    public final AsyncFile open(Options options, Runnable closer) throws IOException {
        return HttpFile.open(this, options, closer);
    }

    /**
     * Requests all of a document that is no file, such as a listing; blocks.
     *
     * @param most bytes that it may have
     * @throws IOException as {@link RemoteProvider#open} does
     */
    public final String document(Options options, int most) throws IOException {
        RangeReader reader = RangeReader.open(this, options);
        try {
            RangeReader.Answer answer = reader.document(this, most);
            elsewhere(answer.head());
            return switch (answer.head().status()) {
                case 200 -> answer.document();
                case 404 ->
                    throw new NoSuchFileException(name, null, answer.failure().toString());
                case 401, 403 -> throw new AccessDeniedException(name, null, denied(answer.failure()));
                default -> throw failed(answer.failure());
            };
        } finally {
            reader.leave();
        }
    }

    /** Requests the head alone, if its method is HEAD, and returns it whatever its status; blocks. */
    public final ResponseHead head(Options options) throws IOException {
        RangeReader reader = RangeReader.open(this, options);
        try {
            return reader.head(this);
        } finally {
            reader.leave();
        }
    }

    /**
     * Returns the headers of a request for a range, to which a service adds its signature. Called for each attempt, on
     * the thread that sends it; may block.
     *
     * @param headers in order: Host, Range, and the conditions
     * @throws NativeException if the request cannot be signed; it is not tried again
     */
    protected Map<String, String> signed(Map<String, String> headers) throws IOException {
        Map<String, String> all = new LinkedHashMap<>(headers);
        all.putAll(credentials.headers(uri));
        return all;
    }

    /** Returns why opening it is refused, after 401 with what credentials were sent or where they are taken from. */
    final String denied(NativeFailure failure) {
        boolean unknown = failure.error().code() == 401 && operation.equals("GET");
        return failure + (unknown ? "; " + credentials.remedy(uri) : "");
    }

    /**
     * Returns what the service calls a status; the reason phrase, unless overridden.
     *
     * @param document receives the body of the response, as much as arrives of the first 32 KiB, and blocks until then
     */
    protected String symbol(ResponseHead head, Supplier<String> document) {
        return head.symbol();
    }

    /**
     * Returns what shows that the body of a response, which is the whole file, is damaged; empty, unless overridden.
     *
     * @param whole the bytes, from position to limit
     */
    protected String damage(ResponseHead head, ByteBuffer whole) {
        return "";
    }

    /** Returns the method of its requests. */
    protected String method() {
        return "GET";
    }

    /**
     * Called once it has been opened as a file, to request what its bytes are compared with; blocks.
     *
     * @param conditions by which a server refuses to answer for another version
     */
    protected void opened(long size, Map<String, String> conditions, Options options) throws IOException {}

    /**
     * Returns what shows that bytes are damaged which a read has received; empty, unless overridden.
     *
     * @param bytes from position to limit
     */
    protected String check(long offset, ByteBuffer bytes) {
        return "";
    }

    /** Takes what a read has received. Another request of the same bytes would be no remedy: others may be damaged. */
    final void received(long offset, ByteBuffer bytes) throws NativeException {
        String damage = check(offset, bytes);
        if (!damage.isEmpty()) {
            throw failed(new NativeFailure(
                    new NativeError(operation, 206, "Partial Content"), NativeFailure.Kind.PERMANENT, damage));
        }
    }

    /** Returns the failure of an attempt whose bytes are damaged. */
    final NativeFailure damaged(ResponseHead head, String how) {
        return new NativeFailure(
                new NativeError(operation, head.status(), head.symbol()), NativeFailure.Kind.TRANSIENT, how);
    }

    /**
     * Returns the resource that a response to the first request names instead of this one; null if it names none.
     *
     * @throws IOException if that is not to be read
     */
    protected @Nullable Resource elsewhere(ResponseHead head) throws IOException {
        return switch (head.status()) {
            case 301, 302, 303, 307, 308 -> new Resource(location(head), credentials);
            default -> null;
        };
    }

    private URI location(ResponseHead head) throws IOException {
        String location = head.value("location");
        if (location == null) {
            throw unfollowed(head, "without a location");
        }
        URI to;
        try {
            to = resolved(escaped(location, StandardCharsets.ISO_8859_1)); // as heads are decoded
        } catch (IllegalArgumentException e) {
            throw unfollowed(head, "to a location that is no URI");
        }
        String scheme = Objects.requireNonNullElse(to.getScheme(), "");
        boolean secure = scheme.equalsIgnoreCase("https");
        if (HostAndPort.of(to) == null
                || (!secure
                        && !(scheme.equalsIgnoreCase("http") && uri.getScheme().equalsIgnoreCase("http")))) {
            throw unfollowed(head, "to " + RemoteProvider.name(to) + ", which is not followed");
        }
        return to;
    }

    /**
     * Resolves a reference by RFC 3986, 5.2.2; its fragment is of no use. {@link URI#resolve} drops the last name for a
     * query alone, keeps dots above the root, and drops empty names.
     */
    private URI resolved(String reference) {
        URI to = URI.create(reference);
        if (to.isAbsolute() && to.getRawAuthority() == null) {
            return to; // of no server
        }
        String path = Objects.requireNonNullElse(to.getRawPath(), "");
        String query = to.getRawQuery();
        if (to.getRawAuthority() == null) {
            String base = uri.getRawPath();
            if (path.isEmpty()) {
                path = base;
                query = query == null ? uri.getRawQuery() : query;
            } else if (!path.startsWith("/")) {
                path = base.substring(0, base.lastIndexOf('/') + 1) + path;
            }
        }
        return URI.create(Objects.requireNonNullElse(to.getScheme(), uri.getScheme()) + "://"
                + Objects.requireNonNullElse(to.getRawAuthority(), uri.getRawAuthority()) + withoutDots(path)
                + (query == null ? "" : "?" + query));
    }

    /** Returns an absolute path without "." and ".." (RFC 3986, 5.2.4). */
    private static String withoutDots(String path) {
        Deque<String> names = new ArrayDeque<>();
        String[] all = (path.startsWith("/") ? path.substring(1) : path).split("/", -1);
        for (int i = 0; i < all.length; i++) {
            boolean above = all[i].equals("..");
            if (above) {
                names.pollLast();
            }
            if (!above && !all[i].equals(".")) {
                names.add(all[i]);
            } else if (i == all.length - 1) {
                names.add(""); // it is a folder
            }
        }
        return "/" + String.join("/", names);
    }

    private IOException unfollowed(ResponseHead head, String note) {
        NativeFailure failure = failure(head, () -> "");
        return new NativeException("opening " + this, new NativeFailure(failure.error(), failure.kind(), note));
    }

    final URI uri() {
        return uri;
    }

    /** Returns the target of a request: path and query, of which HTTP allows ASCII alone and {@link URI} more. */
    static String target(URI uri) {
        String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        return escaped(uri.getRawQuery() == null ? path : path + "?" + uri.getRawQuery(), StandardCharsets.UTF_8);
    }

    /** Returns a text with percent signs for its bytes that a URI does not have, as browsers do. */
    private static String escaped(String text, Charset charset) {
        StringBuilder escaped = new StringBuilder();
        for (byte octet : text.getBytes(charset)) {
            if (octet < 0 || NOT_OF_URIS.indexOf(octet) >= 0) {
                escaped.append('%').append(HexFormat.of().withUpperCase().toHexDigits(octet));
            } else {
                escaped.append((char) octet);
            }
        }
        return escaped.toString();
    }

    /** Returns a response as a failure. */
    final NativeFailure failure(ResponseHead head, Supplier<String> document) {
        return new NativeFailure(new NativeError(operation, head.status(), symbol(head, document)), head.kind());
    }

    /** Returns the failure of an attempt without a response: transient, unless certificates or a proxy refuse. */
    final NativeFailure broken(Throwable error) {
        NativeFailure.Kind kind = NativeFailure.Kind.TRANSIENT;
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertificateException
                    || cause instanceof Trust.UnusableException
                    || cause instanceof HttpProxy.RefusedException
                    || cause instanceof InvalidAlgorithmParameterException) { // no certificate is trusted
                kind = NativeFailure.Kind.PERMANENT;
            }
        }
        return new NativeFailure(new NativeError(operation, 0, HostFailure.told(error)), kind);
    }

    /** Returns a failed request as an exception. */
    final NativeException failed(NativeFailure failure) {
        return new NativeException(operation + " of " + name, failure);
    }

    /** Returns its name, without what may be secret. */
    @Override
    public final String toString() {
        return name;
    }
}
