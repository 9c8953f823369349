// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import com.sun.management.ThreadMXBean;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.async.SdkPublisher;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.transfer.s3.S3TransferManager;
import software.amazon.awssdk.transfer.s3.model.DownloadRequest;

/** Reads an object of a server whole, into memory outside the heap, and again; counts what that allocates in the heap. */
abstract class S3Read extends HttpRead {

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private long read;
    private long allocated;

    S3Read(Path file) throws IOException {
        super(file);
    }

    /** Returns the URL of the server. */
    final URI endpoint() {
        return uri.resolve("/");
    }

    /** Returns the object's key. */
    final String key() {
        return uri.getPath().substring(1);
    }

    private long allocated() {
        long bytes = 0;
        for (long each : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) {
            bytes += Math.max(0, each);
        }
        return bytes;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        long before = allocated();
        Measure measure = super.run(nanos);
        allocated += allocated() - before;
        read += measure.operations() * RANGE;
        return measure;
    }

    @Override
    public String remark() {
        return String.format(Locale.ROOT, "%.4f bytes of heap per byte", (double) allocated / Math.max(1, read));
    }

    /** Penstock, by default options but for the server and what it signs. */
    static final class Penstock extends S3Read {

        private final Backend backend;
        private final StorageFile file;
        private final DeviceBuffer buffer;

        Penstock(Path path) throws IOException {
            super(path);
            backend = Backends.open(
                    "host",
                    Options.none()
                            .with(S3Options.ENDPOINT, endpoint().toString())
                            .with(S3Options.CREDENTIALS, S3Options.Credentials.NONE));
            file = backend.openFile(URI.create("s3://" + HttpServer.BUCKET + "/" + key()))
                    .block();
            buffer = backend.allocate(TestFile.BYTES).block();
        }

        @Override
        public String name() {
            return "one transfer";
        }

        @Override
        long read() throws IOException {
            Completion completion =
                    backend.submit(Transfer.read(file.all(), buffer.all())).block();
            if (completion.bytes() != TestFile.BYTES) {
                throw new IOException("only " + completion.bytes() + " bytes arrived");
            }
            return 0;
        }

        @Override
        public void verify() throws IOException {
            verify(buffer.hostView().orElseThrow().buffer(0, (int) TestFile.BYTES), 0, name());
        }

        @Override
        public void close() throws Exception {
            file.close();
            backend.close();
            super.close();
        }
    }

    /** The transfer manager of the AWS SDK over its client by the Common Runtime, copied to where the bytes belong. */
    static final class AwsDownload extends S3Read {

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
        public String name() {
            return "AWS transfer manager";
        }

        @Override
        long read() {
            manager.download(DownloadRequest.builder()
                            .getObjectRequest(
                                    get -> get.bucket(HttpServer.BUCKET).key(key()))
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
            verify(target.duplicate().flip(), TestFile.BYTES - target.capacity(), name());
        }

        @Override
        public void close() throws Exception {
            manager.close();
            client.close();
            super.close();
        }
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
            parts.subscribe(new Subscriber<>() {
                @Override
                public void onSubscribe(Subscription subscription) {
                    subscription.request(Long.MAX_VALUE);
                }

                @Override
                public void onNext(ByteBuffer part) {
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
                public void onError(Throwable error) {
                    done.completeExceptionally(error);
                }

                @Override
                public void onComplete() {
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
