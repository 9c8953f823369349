// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import reactor.core.publisher.BaseSubscriber;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.async.SdkPublisher;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.transfer.s3.S3TransferManager;
import software.amazon.awssdk.transfer.s3.model.DownloadRequest;

/** The transfer manager of the AWS SDK over its client by the Common Runtime, copied to where the bytes belong. */
final class AwsDownload extends HttpRead {

    private final S3AsyncClient client;
    private final S3TransferManager manager;
    private final ByteBuffer target = ByteBuffer.allocateDirect(64 * RANGE); // as often as the object takes

    AwsDownload(Path path) throws IOException {
        super(path);
        client = S3AsyncClient.crtBuilder()
                .endpointOverride(endpoint())
                .forcePathStyle(true)
                .region(Region.US_EAST_1)
                .credentialsProvider(AnonymousCredentialsProvider.create())
                .build();
        manager = S3TransferManager.builder().s3Client(client).build();
    }

    @Override
    long read() {
        manager.download(DownloadRequest.builder()
                        .getObjectRequest(get -> get.bucket(HttpServer.BUCKET).key(key()))
                        .responseTransformer(new IntoMemory(target.clear()))
                        .build())
                .completionFuture()
                .join();
        if (target.hasRemaining()) {
            throw new IllegalStateException("the object did not arrive whole");
        }
        return 0;
    }

    @Override
    public void verify() throws IOException {
        verify(target.duplicate().flip(), TestFile.BYTES - target.capacity());
    }

    @Override
    public void close() throws Exception {
        manager.close();
        client.close();
        super.close();
    }

    /** Copies a response into memory. */
    private record IntoMemory(ByteBuffer target, CompletableFuture<GetObjectResponse> done)
            implements AsyncResponseTransformer<GetObjectResponse, GetObjectResponse> {

        IntoMemory(ByteBuffer target) {
            this(target, new CompletableFuture<>());
        }

        @Override
        public CompletableFuture<GetObjectResponse> prepare() {
            return done;
        }

        @Override
        public void onResponse(GetObjectResponse response) {}

        @Override
        public void onStream(SdkPublisher<ByteBuffer> parts) {
            parts.subscribe(new BaseSubscriber<>() {
                @Override
                protected void hookOnNext(ByteBuffer part) {
                    while (part.hasRemaining()) {
                        if (!target.hasRemaining()) {
                            target.clear();
                        }
                        int bytes = Math.min(part.remaining(), target.remaining());
                        target.put(part.slice(part.position(), bytes));
                        part.position(part.position() + bytes);
                    }
                }

                @Override
                protected void hookOnError(Throwable error) {
                    done.completeExceptionally(error);
                }

                @Override
                protected void hookOnComplete() {
                    done.complete(GetObjectResponse.builder().build());
                }
            });
        }

        @Override
        public void exceptionOccurred(Throwable error) {
            done.completeExceptionally(error);
        }
    }
}
