// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.Options;
import io.penstock.remote.s3.S3Options;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Objects;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.TransientNio2BlobStore;
import software.amazon.awssdk.services.s3.model.CreateBucketRequest;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/** An S3 server in this JVM, with a bucket in memory, and a proxy in front of it that goes wrong as told. */
final class S3Server {

    static final String BUCKET = "bucket";

    private final TransientNio2BlobStore store = new TransientNio2BlobStore();
    private final S3Proxy server;
    final FaultProxy proxy;

    /**
     * Starts a server.
     *
     * @param signed whether it wants signatures, with the credentials of this process' environment
     */
    S3Server(boolean signed) throws Exception {
        this(signed, S3Proxy.builder());
    }

    /** Starts a server with settings of its own. */
    S3Server(boolean signed, S3Proxy.Builder settings) throws Exception {
        create(BUCKET);
        server = settings.blobStore(store)
                .endpoint(URI.create("http://localhost:0"))
                .awsAuthentication(
                        signed ? AuthenticationType.AWS_V4 : AuthenticationType.NONE,
                        signed ? environment("AWS_ACCESS_KEY_ID") : null,
                        signed ? environment("AWS_SECRET_ACCESS_KEY") : null)
                .build();
        server.start();
        proxy = new FaultProxy(server.getPort());
    }

    private static String environment(String variable) {
        return Objects.requireNonNull(
                System.getenv(variable), () -> variable + " must be set, to anything, as the pom does");
    }

    /** Returns options of a backend that reads from the proxy. */
    Options options() {
        return Options.none().with(S3Options.ENDPOINT, proxy.uri().toString()).with("penstock.close-timeout", "2s");
    }

    static URI uri(String key) {
        return URI.create("s3://" + BUCKET + "/" + key);
    }

    void put(String key, byte[] bytes) {
        put(BUCKET, key, bytes);
    }

    void create(String bucket) {
        store.createContainer(CreateBucketRequest.builder().bucket(bucket).build());
    }

    void put(String bucket, String key, byte[] bytes) {
        store.putBlob(
                PutObjectRequest.builder()
                        .bucket(bucket)
                        .key(key)
                        .contentLength((long) bytes.length)
                        .build(),
                new ByteArrayInputStream(bytes));
    }

    byte[] get(String key) throws IOException {
        return store.getBlob(GetObjectRequest.builder().bucket(BUCKET).key(key).build())
                .readAllBytes();
    }

    /** Returns the uploads that were begun, and neither completed nor aborted. */
    List<MultipartUpload> uploads() {
        return store.listMultipartUploads(BUCKET);
    }

    void stop() throws Exception {
        proxy.close();
        server.stop();
    }
}
