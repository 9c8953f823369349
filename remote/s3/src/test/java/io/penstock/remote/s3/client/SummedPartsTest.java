// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.remote.s3.S3Options;
import java.security.MessageDigestSpi;
import java.security.Provider;
import java.security.Security;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Where checksums are computed: on no thread of an I/O queue, and on none that serves connections. */
@Tag("once")
@ExtendWith(Certificates.class)
class SummedPartsTest {

    private static final int PART = 5 << 20;
    private static final int SMALL = 1000;
    private static final Set<String> THREADS = ConcurrentHashMap.newKeySet();

    /** An MD5 that keeps on which threads it is computed; its sums are wrong, and are not compared. */
    private static final Provider WATCHED = new Provider("watched", "1", "for tests") {
        private static final long serialVersionUID = 1L;

        {
            put("MessageDigest.MD5", Watching.class.getName());
        }
    };

    /** Created by the provider. */
    public static final class Watching extends MessageDigestSpi {
        @Override
        protected void engineUpdate(byte one) {
            // of nothing that is written
        }

        @Override
        protected void engineUpdate(byte[] bytes, int offset, int length) {
            if (length >= SMALL) { // the JDK has sums of its own
                THREADS.add(Thread.currentThread().getName());
            }
        }

        @Override
        protected byte[] engineDigest() {
            return new byte[16];
        }

        @Override
        protected void engineReset() {
            // has no state
        }
    }

    @BeforeEach
    void watch() {
        THREADS.clear();
        Security.insertProviderAt(WATCHED, 1);
    }

    @AfterEach
    void stop() {
        Security.removeProvider(WATCHED.getName());
    }

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(60));
    }

    /** The second write of a part waits for the first, and begins where that one ends. */
    @Test
    void checksumsAreComputedOnThreadsOfTheirOwn() throws Exception {
        S3Server server = new S3Server(true);
        CountDownLatch first = new CountDownLatch(1);
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("PUT")) {
                await(first);
                to.write(FaultProxy.text("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 0"));
            }
            return request.kind.equals("PUT");
        };
        Options options = server.options()
                .with(S3Options.PART_BYTES, (long) PART)
                .with(S3Options.CHECKSUM, S3Options.Checksum.MD5);
        try (Backend backend = Backends.open("host", options);
                DeviceBuffer buffer = get(backend.allocate(PART));
                StorageFile object = get(backend.openFile(
                        S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE))) {
            Transfer write = Transfer.write(buffer.all(), object.region(0, PART));
            CompletableFuture<Void> both = Flux.merge(backend.submit(write), backend.submit(write))
                    .then()
                    .toFuture();
            for (int i = 0; i < 30_000 && server.proxy.requests("PUT").isEmpty(); i++) {
                FaultProxy.sleep(1);
            }
            first.countDown();
            both.get(60, TimeUnit.SECONDS);
        } finally {
            server.stop();
        }
        assertThat(THREADS).isNotEmpty().allMatch(name -> name.startsWith("penstock-s3-"));
    }

    @Test
    void theChecksumOfASmallObjectIsToo() throws Exception {
        S3Server server = new S3Server(true);
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("PUT")) {
                to.write(FaultProxy.text("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 0"));
            }
            return request.kind.equals("PUT");
        };
        Options options = server.options().with(S3Options.CHECKSUM, S3Options.Checksum.MD5);
        try (Backend backend = Backends.open("host", options);
                DeviceBuffer buffer = get(backend.allocate(SMALL));
                StorageFile object = get(backend.openFile(
                        S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE))) {
            get(backend.submit(Transfer.write(buffer.all(), object.region(0, SMALL))));
            get(object.sync());
        } finally {
            server.stop();
        }
        assertThat(THREADS).isNotEmpty().allMatch(name -> name.startsWith("penstock-s3-"));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
