// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.NativeError;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.http.HttpRequestBodyStream;

/**
 * The requests that write an object: all of it at once, or a multipart upload, which begins with its first part.
 * Thread-safe.
 */
final class Multipart {

    private static final int ANSWER_BYTES = 64 << 10;
    private static final int NOT_FOUND = 404;
    private static final int PRECONDITION_FAILED = 412;
    private static final String MARK = "x-amz-meta-penstock-write";
    private static final Pattern ID = Pattern.compile("<UploadId>([^<]+)</UploadId>");

    private final CrtClient client;
    private final Address address;
    private final RequestHeaders added;
    private final boolean isNew;
    // Metadata of the object, by which a HEAD shows that this upload created it.
    private final String mark = UUID.randomUUID().toString();
    private final List<Consumer<@Nullable Throwable>> waiting =
            new ArrayList<>(); // for the upload's id; guarded by this, as all below
    private final Map<Integer, Map<String, String>> sums = new ConcurrentHashMap<>(); // of parts, by number
    private boolean beginning;
    private @Nullable String id; // of the upload, while it is neither completed nor aborted

    /**
     * Creates the requests; sends none.
     *
     * @param isNew whether to fail if there is such an object by then
     */
    Multipart(CrtClient client, Address address, RequestHeaders added, boolean isNew) {
        this.client = client;
        this.address = address;
        this.added = added;
        this.isNew = isNew;
    }

    private S3Request request(String operation) {
        return new S3Request(address, operation).headers(added.all());
    }

    private static String query(String id) {
        return "uploadId=" + Address.escaped(id).replace("/", "%2F");
    }

    /** Calls {@code next} once the upload has begun, or with the error. */
    private void begun(Consumer<@Nullable Throwable> next) {
        synchronized (this) {
            if (id == null) {
                waiting.add(next);
                if (beginning) {
                    return;
                }
                beginning = true;
            }
        }
        if (!isBegun()) {
            ByteBuffer answer = ByteBuffer.allocate(ANSWER_BYTES);
            new S3Request(address, "CreateMultipartUpload")
                    .headers(added.creating(true))
                    .header(MARK, mark)
                    .to(answer)
                    .start(client, "POST", "?uploads=", null, error -> began(error, answer));
        } else {
            next.accept(null);
        }
    }

    private void began(@Nullable Throwable error, ByteBuffer answer) {
        Matcher found = ID.matcher(text(answer));
        Throwable failure = error;
        List<Consumer<@Nullable Throwable>> all;
        synchronized (this) {
            beginning = false;
            if (error == null && found.find()) {
                id = XmlText.read(found.group(1));
            } else if (error == null) {
                failure = lacking("CreateMultipartUpload", "upload id");
            }
            all = List.copyOf(waiting);
            waiting.clear();
        }
        for (Consumer<@Nullable Throwable> next : all) {
            next.accept(failure);
        }
    }

    private NativeException lacking(String operation, String what) {
        return failed(operation, NativeFailure.Kind.PERMANENT, "the answer has no " + what);
    }

    private NativeException failed(String operation, NativeFailure.Kind kind, String note) {
        return new NativeException(
                operation + " of " + address, new NativeFailure(new NativeError(operation, 0, ""), kind, note));
    }

    /**
     * Computes the checksum of what a request sends, on no thread of the caller's, which may be an I/O queue's, or one
     * that serves connections.
     *
     * @param bytes used until one of both is called
     */
    private void summed(
            String operation,
            ByteBuffer bytes,
            Consumer<Map<String, String>> next,
            Consumer<@Nullable Throwable> ended) {
        client.compute(
                () -> {
                    Map<String, String> sum;
                    try {
                        sum = added.sum(bytes);
                    } catch (RuntimeException | Error e) {
                        ended.accept(e);
                        return;
                    }
                    next.accept(sum);
                },
                refused -> ended.accept(failed(operation, NativeFailure.Kind.TRANSIENT, refused.toString())));
    }

    private static String text(ByteBuffer answer) {
        return StandardCharsets.UTF_8.decode(answer.duplicate().flip()).toString();
    }

    /** Returns whether there is an upload on the server. */
    synchronized boolean isBegun() {
        return id != null;
    }

    /**
     * Uploads a part.
     *
     * @param number from 1
     * @param bytes used until the end
     * @param ended called once with the part's entity tag, or with the error
     * @return the request, to cancel it
     */
    S3Request part(int number, ByteBuffer bytes, BiConsumer<@Nullable String, @Nullable Throwable> ended) {
        S3Request request = request("UploadPart").header("Content-Length", Integer.toString(bytes.remaining()));
        Consumer<@Nullable Throwable> failed = error -> ended.accept(null, error);
        summed(
                "UploadPart",
                bytes,
                sum -> {
                    sums.put(number, sum);
                    begun(error -> {
                        if (error == null) {
                            start(request.headers(sum), number, bytes, ended);
                        } else {
                            failed.accept(error);
                        }
                    });
                },
                failed);
        return request;
    }

    private void start(
            S3Request part, int number, ByteBuffer bytes, BiConsumer<@Nullable String, @Nullable Throwable> ended) {
        part.start(client, "PUT", "?partNumber=" + number + "&" + query(id()), new Body(bytes), failure -> {
            String etag = part.answered("ETag");
            boolean lacks = failure == null && etag == null;
            ended.accept(etag, lacks ? lacking("UploadPart", "ETag") : failure);
        });
    }

    private synchronized String id() {
        if (id == null) {
            throw new IllegalStateException("there is no upload of " + address);
        }
        return id;
    }

    /**
     * Makes an object of the parts.
     *
     * @param etags of all parts, in order
     */
    void complete(List<String> etags, Consumer<@Nullable Throwable> ended) {
        StringBuilder list = new StringBuilder("<CompleteMultipartUpload>");
        for (int i = 0; i < etags.size(); i++) {
            list.append("<Part><PartNumber>").append(i + 1).append("</PartNumber><ETag>");
            list.append(XmlText.written(etags.get(i))).append("</ETag>");
            list.append(RequestHeaders.element(sums.getOrDefault(i + 1, Map.of())))
                    .append("</Part>");
        }
        ByteBuffer body = ByteBuffer.wrap(
                list.append("</CompleteMultipartUpload>").toString().getBytes(StandardCharsets.UTF_8));
        ByteBuffer answer = ByteBuffer.allocate(ANSWER_BYTES);
        Consumer<@Nullable Throwable> done = unlessDone(error -> {
            if (error == null) {
                synchronized (this) {
                    id = null;
                }
            }
            ended.accept(error);
        });
        S3Request complete = request("CompleteMultipartUpload");
        (isNew ? complete.header("If-None-Match", "*") : complete)
                .header("Content-Length", Integer.toString(body.remaining()))
                .to(answer)
                .start(client, "POST", "?" + query(id()), new Body(body), error -> {
                    boolean lacks = error == null && !text(answer).contains("CompleteMultipartUploadResult");
                    done.accept(lacks ? lacking("CompleteMultipartUpload", "result") : error);
                });
    }

    /**
     * Returns the end of a request that creates the object. An attempt may have created it although its response was
     * lost or had no body; the next attempt then fails, because the upload no longer exists, or an object exists that
     * must not. The mark in the object's metadata shows whether this upload has written it.
     */
    private Consumer<@Nullable Throwable> unlessDone(Consumer<@Nullable Throwable> ended) {
        return error -> {
            long status = error instanceof NativeException known
                    ? known.failure().error().code()
                    : -1;
            if (status != 0 && status != NOT_FOUND && status != PRECONDITION_FAILED) { // 0: a response was incomplete
                ended.accept(error);
                return;
            }
            S3Request head = request("HeadObject");
            head.start(client, "HEAD", "", null, none -> ended.accept(mark.equals(head.answered(MARK)) ? null : error));
        };
    }

    /** Writes the object by one request. */
    void put(ByteBuffer bytes, Consumer<@Nullable Throwable> ended) {
        S3Request put = new S3Request(address, "PutObject").headers(added.creating(false));
        summed(
                "PutObject",
                bytes,
                sum -> (isNew ? put.header("If-None-Match", "*") : put)
                        .headers(sum)
                        .header(MARK, mark)
                        .header("Content-Length", Integer.toString(bytes.remaining()))
                        .start(client, "PUT", "", new Body(bytes), unlessDone(ended)),
                ended);
    }

    /** Removes all parts from the server, if there is an upload; blocks. */
    void abort() throws IOException {
        if (isBegun()) {
            try {
                request("AbortMultipartUpload").await(client, "DELETE", "?" + query(id()), null);
            } catch (NativeException e) {
                if (e.failure().error().code() != NOT_FOUND) { // else an earlier attempt has removed it
                    throw e;
                }
            }
        }
    }

    /** The body of a request, in memory. */
    private static final class Body implements HttpRequestBodyStream {

        private final ByteBuffer all;
        private ByteBuffer rest;

        Body(ByteBuffer all) {
            this.all = all.slice();
            this.rest = this.all.duplicate();
        }

        @Override
        public boolean sendRequestBody(ByteBuffer to) {
            int bytes = Math.min(to.remaining(), rest.remaining());
            to.put(rest.slice(rest.position(), bytes));
            rest.position(rest.position() + bytes);
            return !rest.hasRemaining();
        }

        @Override
        public boolean resetPosition() {
            rest = all.duplicate();
            return true;
        }

        @Override
        public long getLength() {
            return all.remaining();
        }
    }

    /** The text of an element of XML, without a parser: S3's documents have no other contents. */
    static final class XmlText {

        private static final Pattern REFERENCE = Pattern.compile("&(?:#(\\d{1,6})|#x(\\p{XDigit}{1,5})|(\\w+));");
        private static final Map<String, String> NAMED =
                Map.of("amp", "&", "lt", "<", "gt", ">", "quot", "\"", "apos", "'");

        private XmlText() {}

        /** Returns what the contents of an element stand for; references that XML does not have stand for themselves. */
        static String read(String contents) {
            return REFERENCE.matcher(contents).replaceAll(found -> Matcher.quoteReplacement(meaning(found)));
        }

        private static String meaning(MatchResult reference) {
            if (reference.group(3) != null) {
                return NAMED.getOrDefault(reference.group(3), reference.group());
            }
            int point = reference.group(1) != null
                    ? Integer.parseInt(reference.group(1))
                    : Integer.parseInt(reference.group(2), 16);
            return Character.getType(point) == Character.SURROGATE ? reference.group() : Character.toString(point);
        }

        /** Returns a text as the contents of an element. */
        static String written(String text) {
            return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
        }
    }
}
