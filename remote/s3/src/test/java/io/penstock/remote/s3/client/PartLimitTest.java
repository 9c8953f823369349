// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.remote.s3.S3Options;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** Writes behind the last part that an object may have. */
@Tag("once")
@ExtendWith(Certificates.class)
class PartLimitTest {

    private static final long PART = 5 << 20;
    private static final long END = 10_000 * PART;

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(30));
    }

    /** Behind the limit, across it, and a whole part before it that goes on behind it. */
    @ParameterizedTest
    @ValueSource(longs = {END, END - 1000, END - PART + 1})
    void aWriteThatEndsBehindTheLastPartIsRefusedAsAWhole(long offset) throws Exception {
        S3Server server = new S3Server(true);
        try (Backend backend = Backends.open("host", server.options().with(S3Options.PART_BYTES, PART));
                DeviceBuffer buffer = get(backend.allocate(PART));
                StorageFile file = get(backend.openFile(
                        S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE))) {
            assertThatThrownBy(() -> get(backend.submit(Transfer.write(buffer.all(), file.region(offset, PART)))))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("10000 parts of penstock.s3.part-bytes=" + PART)
                    .hasMessageContaining("a larger one allows larger objects");
            assertThat(file.size()).isZero();
            assertThat(server.proxy.requests("POST")).isEmpty();
        } finally {
            server.stop();
        }
    }

    /** Of 11 MiB: 10,000 of them have it. What was announced must be written. */
    @Test
    void aLengthThatIsAnnouncedMakesThePartsAsLargeAsItNeeds() throws Exception {
        S3Server server = new S3Server(true);
        try (Backend backend = Backends.open("host", server.options().with(S3Options.PART_BYTES, PART));
                DeviceBuffer buffer = get(backend.allocate(11 << 20));
                StorageFile file = get(backend.openFile(
                        S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE))) {
            assertThatThrownBy(() -> get(file.preallocate(10_001L << 30)))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("10000 parts of penstock.s3.part-bytes=" + PART);
            get(file.preallocate(2 * END + 1));
            assertThat(file.size()).isEqualTo(2 * END + 1);
            get(backend.submit(Transfer.write(buffer.region(0, 1), file.region(2 * END, 1))));
            get(backend.submit(Transfer.write(buffer.all(), file.region(0, 11 << 20))));
            assertThat(server.proxy.requests("PUT"))
                    .singleElement()
                    .satisfies(part -> assertThat(part.body).hasSize(11 << 20));
            assertThatThrownBy(() -> get(file.sync())).hasMessageContaining("bytes from " + (11 << 20) + " on");
            assertThatThrownBy(() -> get(file.preallocate(10_001L * (11 << 20))))
                    .hasMessageContaining("10000 parts of penstock.s3.part-bytes=" + (11 << 20));
        } finally {
            server.stop();
        }
    }
}
