// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import reactor.core.publisher.Flux;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.async.ResponsePublisher;
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
        ResponsePublisher<GetObjectResponse> parts = manager.download(DownloadRequest.builder()
                        .getObjectRequest(get -> get.bucket(HttpServer.BUCKET).key(key()))
                        .responseTransformer(AsyncResponseTransformer.<GetObjectResponse>toPublisher())
                        .build())
                .completionFuture()
                .join()
                .result();
        target.clear();
        Flux.from(parts).doOnNext(this::copy).blockLast();
        if (target.hasRemaining()) {
            throw new IllegalStateException("the object did not arrive whole");
        }
        return 0;
    }

    private void copy(ByteBuffer part) {
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
    public void verify() throws IOException {
        verify(target.duplicate().flip(), TestFile.BYTES - target.capacity());
    }

    @Override
    public void close() throws Exception {
        manager.close();
        client.close();
        super.close();
    }
}
