// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.NativeError;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import software.amazon.awssdk.crt.CrtRuntimeException;
import software.amazon.awssdk.crt.auth.credentials.CredentialsProvider;
import software.amazon.awssdk.crt.auth.credentials.DefaultChainCredentialsProvider.DefaultChainCredentialsProviderBuilder;
import software.amazon.awssdk.crt.auth.signing.AwsSigner;
import software.amazon.awssdk.crt.auth.signing.AwsSigningConfig;
import software.amazon.awssdk.crt.http.HttpHeader;
import software.amazon.awssdk.crt.http.HttpRequest;
import software.amazon.awssdk.crt.io.ClientBootstrap;
import software.amazon.awssdk.crt.io.EventLoopGroup;
import software.amazon.awssdk.crt.io.HostResolver;

/**
 * Signs requests (Signature Version 4) with the first credentials that AWS's default chain finds; the chain renews them
 * before they expire.
 *
 * <p><b>Threading:</b> thread-safe. Signing blocks while the chain requests credentials.
 */
final class Signer implements AutoCloseable {

    private static final String REMEDY = "AWS's chain finds no credentials: set AWS_ACCESS_KEY_ID and"
            + " AWS_SECRET_ACCESS_KEY or a profile, or for public objects penstock.s3.credentials=none";

    private final AwsSigningConfig config;
    private boolean closed; // guarded by this

    /** Creates a signer; requests no credentials yet. */
    Signer(String region) {
        try (EventLoopGroup thread = new EventLoopGroup(1);
                HostResolver hosts = new HostResolver(thread);
                ClientBootstrap bootstrap = new ClientBootstrap(thread, hosts);
                CredentialsProvider chain = new DefaultChainCredentialsProviderBuilder()
                        .withClientBootstrap(bootstrap)
                        .build()) { // each retains what it was created with until it is closed
            config = AwsSigningConfig.getDefaultS3SigningConfig(region, chain);
        }
    }

    /** Returns how requests are signed; for as long as this is open. */
    AwsSigningConfig config() {
        return config;
    }

    /**
     * Returns the headers of a request, and the headers of its signature.
     *
     * @param method of the request
     * @param name of the object, for messages
     * @param path with percent signs, as it is sent
     * @param headers all are signed
     * @throws NativeException if there are no credentials
     */
    Map<String, String> signed(String name, String method, String path, Map<String, String> headers)
            throws IOException {
        HttpRequest request = new HttpRequest(
                method,
                path,
                headers.entrySet().stream()
                        .map(header -> new HttpHeader(header.getKey(), header.getValue()))
                        .toArray(HttpHeader[]::new),
                null);
        Map<String, String> signed = new LinkedHashMap<>();
        try (AwsSigningConfig now = now()) {
            for (HttpHeader header : AwsSigner.signRequest(request, now).get().getHeaders()) {
                signed.put(header.getName(), header.getValue());
            }
        } catch (CrtRuntimeException e) {
            throw failed(name, e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof CrtRuntimeException cause ? failed(name, cause) : new IOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while a request was signed", e);
        }
        return signed;
    }

    /** Returns a copy with the present time, which keeps the credentials beyond a {@link #close}. */
    private synchronized AwsSigningConfig now() throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        AwsSigningConfig now = config.clone();
        now.setTime(System.currentTimeMillis());
        return now;
    }

    private static NativeException failed(String name, CrtRuntimeException e) {
        return new NativeException(
                "signing a request of " + name,
                new NativeFailure(
                        new NativeError("AwsSigner.signRequest", e.errorCode, e.errorName),
                        NativeFailure.Kind.PERMANENT,
                        e.errorName.contains("CREDENTIALS") ? REMEDY : ""));
    }

    @Override
    public synchronized void close() {
        closed = true;
        config.close();
    }
}
