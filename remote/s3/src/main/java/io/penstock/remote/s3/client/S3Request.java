// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.NativeError;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.remote.http.client.ResponseHead;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.CRT;
import software.amazon.awssdk.crt.CrtRuntimeException;
import software.amazon.awssdk.crt.http.HttpHeader;
import software.amazon.awssdk.crt.http.HttpRequest;
import software.amazon.awssdk.crt.http.HttpRequestBodyStream;
import software.amazon.awssdk.crt.s3.S3FinishedResponseContext;
import software.amazon.awssdk.crt.s3.S3MetaRequest;
import software.amazon.awssdk.crt.s3.S3MetaRequestOptions;
import software.amazon.awssdk.crt.s3.S3MetaRequestOptions.MetaRequestType;
import software.amazon.awssdk.crt.s3.S3MetaRequestResponseHandler;
import software.amazon.awssdk.crt.s3.S3RequestMetrics;

/**
 * One request to a server, with the client's retries; it ends once.
 *
 * <p><b>Threading:</b> built and started by one thread. The callbacks of the response run on the client's threads, one
 * after the other; {@link #cancel} may be called on any thread.
 */
final class S3Request implements S3MetaRequestResponseHandler {

    /** No connection could be opened: EMFILE or ENFILE. */
    private static final String NO_DESCRIPTOR = "AWS_ERROR_MAX_FDS_EXCEEDED";

    /** A call of the system failed, such as the resolution of a name that needs a file. */
    private static final String CALL_FAILED = "AWS_ERROR_SYS_CALL_FAILURE";

    /** The client's transient errors: of connections, of limits, and of a server that has stayed busy. */
    private static final Pattern PASSING = Pattern.compile("AWS_(IO|ERROR_HTTP)_.*|AWS_ERROR_OOM|" + NO_DESCRIPTOR + "|"
            + CALL_FAILED + "|AWS_ERROR_S3_(SLOW_DOWN|INTERNAL_ERROR|REQUEST_TIMEOUT)");

    /**
     * The TLS handshake failed, for example since no authority in the system's trust store has signed the certificate.
     */
    private static final String NO_TLS = "AWS_IO_TLS_ERROR_NEGOTIATION_FAILURE";

    private final Address address;
    private final String operation;
    private final S3MetaRequestOptions options;
    private final List<HttpHeader> headers = new ArrayList<>();
    private ByteBuffer to = ByteBuffer.allocate(0);
    private HttpHeader[] answered = {};
    private Consumer<@Nullable Throwable> ended = error -> {};
    private @Nullable S3MetaRequest running; // guarded by this, as all below
    private boolean over;
    private boolean cancelled;
    private int refusal; // the client's number of NO_TLS, once an attempt has failed with it

    /**
     * Creates a request.
     *
     * @param operation as S3's reference names it
     */
    S3Request(Address address, String operation) {
        this.address = address;
        this.operation = operation;
        this.options = new S3MetaRequestOptions()
                .withEndpoint(address.server())
                .withMetaRequestType(MetaRequestType.DEFAULT)
                .withOperationName(operation)
                .withResponseHandler(this);
        headers.add(new HttpHeader("Host", address.host()));
    }

    S3Request headers(Map<String, String> more) {
        more.forEach(this::header);
        return this;
    }

    S3Request header(String name, String value) {
        headers.add(new HttpHeader(name, value));
        return this;
    }

    /** Lets the response fill this memory from its position, which is used until the request has ended. */
    S3Request to(ByteBuffer memory) {
        to = memory;
        return this;
    }

    /**
     * Starts the request; does not block.
     *
     * @param query with its question mark, or empty
     * @param body null for none
     * @param end called once, also before this returns, with null or the error
     */
    void start(
            CrtClient client,
            String method,
            String query,
            @Nullable HttpRequestBodyStream body,
            Consumer<@Nullable Throwable> end) {
        ended = end;
        if (isCancelled()) {
            end.accept(new CancellationException());
            return;
        }
        S3MetaRequest started;
        try {
            started = client.start(options.withHttpRequest(
                    new HttpRequest(method, address.path() + query, headers.toArray(HttpHeader[]::new), body)));
        } catch (CrtRuntimeException e) {
            NativeError error = error(e.errorCode);
            end.accept(failed(error, kind(error)));
            return;
        }
        synchronized (this) {
            if (!over) {
                running = started;
                if (cancelled || refusal != 0) {
                    started.cancel();
                }
                return;
            }
        }
        started.close();
    }

    /**
     * Starts the request and blocks until it has ended, also in a thread that is interrupted, which stays so: what is
     * to be removed from the server would remain there otherwise.
     *
     * @throws IOException if it fails, a {@link NativeException} if the server or the client reports the failure
     */
    void await(CrtClient client, String method, String query, @Nullable HttpRequestBodyStream body) throws IOException {
        CompletableFuture<Void> done = new CompletableFuture<>();
        start(client, method, query, body, error -> {
            if (error == null) {
                done.complete(null);
            } else {
                done.completeExceptionally(error);
            }
        });
        try {
            done.join();
        } catch (CompletionException | CancellationException e) {
            throw e.getCause() instanceof IOException failure
                    ? failure
                    : new IOException(operation + " of " + address + " was cancelled", e);
        }
    }

    /** Asks the client to end the request early. */
    synchronized void cancel() {
        cancelled = true;
        if (running != null) {
            running.cancel();
        }
    }

    private synchronized boolean isCancelled() {
        return cancelled;
    }

    /** Returns a header of the response; null if it has none of this name. */
    @Nullable
    String answered(String name) {
        for (HttpHeader header : answered) {
            if (header.getName().equalsIgnoreCase(name)) {
                return header.getValue();
            }
        }
        return null;
    }

    @Override
    public void onResponseHeaders(int status, HttpHeader[] all) {
        answered = all;
    }

    @Override
    public int onResponseBody(ByteBuffer part, long start, long end) {
        to.put(part.limit(Math.min(part.limit(), part.position() + to.remaining())));
        return 0;
    }

    /** Called after each attempt: the client would try again for half a minute, with the same certificate. */
    @Override
    public synchronized void onTelemetry(S3RequestMetrics attempt) {
        if (NO_TLS.equals(CRT.awsErrorName(attempt.getErrorCode()))) {
            refusal = attempt.getErrorCode();
            if (running != null) {
                running.cancel();
            }
        }
    }

    @Override
    public void onFinished(S3FinishedResponseContext end) {
        S3MetaRequest ending;
        boolean early;
        int refused;
        synchronized (this) {
            over = true;
            early = cancelled;
            refused = refusal;
            ending = running;
            running = null;
        }
        if (ending != null) {
            ending.close();
        }
        if (end.getErrorCode() == 0) {
            ended.accept(null);
        } else if (early) {
            ended.accept(new CancellationException());
        } else if (refused != 0) {
            ended.accept(failed(error(refused), NativeFailure.Kind.PERMANENT));
        } else {
            ended.accept(told(end));
        }
    }

    /** Returns the failure; the client would drop what is thrown here, and the request would never end. */
    private Throwable told(S3FinishedResponseContext end) {
        try {
            return failure(end);
        } catch (RuntimeException | Error e) {
            return e;
        }
    }

    private NativeException failure(S3FinishedResponseContext end) {
        int status = end.getResponseStatus();
        byte[] payload = Objects.requireNonNullElse(end.getErrorPayload(), new byte[0]);
        String code = S3Object.code(new String(payload, StandardCharsets.UTF_8));
        if (status >= 300) {
            return failed(new NativeError(operation, status, code), ResponseHead.kind(status));
        }
        NativeError error = error(end.getErrorCode());
        NativeError known = code.isEmpty() ? error : new NativeError(operation, status, code);
        return failed(known, kind(error));
    }

    private static NativeFailure.Kind kind(NativeError error) {
        return PASSING.matcher(error.symbol()).matches() ? NativeFailure.Kind.TRANSIENT : NativeFailure.Kind.PERMANENT;
    }

    private NativeError error(int code) {
        return new NativeError(operation, code, CRT.awsErrorName(code));
    }

    private NativeException failed(NativeError error, NativeFailure.Kind kind) {
        return new NativeException(operation + " of " + address, new NativeFailure(error, kind, remedy(error)));
    }

    private String remedy(NativeError error) {
        return switch (error.symbol()) {
            case NO_DESCRIPTOR -> HostFailure.remedy(Errno.EMFILE);
            case CALL_FAILED -> {
                Throwable limit = HostFailure.ofLimitNow(address, 1);
                yield limit == null ? "" : HostFailure.remedy(limit);
            }
            default -> "";
        };
    }
}
