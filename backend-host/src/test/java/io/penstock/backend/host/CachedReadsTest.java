// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Short reads of what the page cache has, which are made where they are subscribed to. */
@EnabledOnOs(OS.LINUX)
class CachedReadsTest {

    private static final int BYTES = 1 << 20;

    private final byte[] content = new byte[BYTES];
    private final List<Thread> endings = Collections.synchronizedList(new ArrayList<>());
    private Path path;

    @BeforeEach
    void write() throws IOException {
        new Random(1).nextBytes(content);
        Path disk = Files.createDirectories(Path.of("target/cached").toAbsolutePath()); // /tmp may be memory
        path = Files.write(Files.createTempFile(disk, "file", ""), content);
        path.toFile().deleteOnExit();
    }

    private Backend open(long mostBytes) {
        Backend backend = Backends.open("host", Options.none().with("penstock.host.cached-bytes", "" + mostBytes));
        backend.listen(new TransferListener() {
            @Override
            public void ended(Completion completion) {
                endings.add(Thread.currentThread());
            }
        });
        return backend;
    }

    private long read(Backend backend, StorageFile file, DeviceBuffer buffer, long at, int length, int target) {
        Transfer transfer = Transfer.read(file.region(at, length), buffer.region(target, length));
        return Objects.requireNonNull(backend.submit(transfer).block()).bytes();
    }

    private void assertContent(DeviceBuffer buffer, long at, int length, int target) {
        byte[] read = new byte[length];
        ByteBuffer bytes = ByteBuffer.wrap(read);
        buffer.hostView().orElseThrow().read(target, bytes);
        for (int i = 0; i < length; i++) {
            assertThat(read[i]).as("byte %s", at + i).isEqualTo(content[(int) at + i]);
        }
    }

    @Test
    void theyHaveTheBytesOfTheFile() {
        try (Backend backend = open(16 << 10);
                StorageFile file = backend.openFile(path).block();
                DeviceBuffer buffer = backend.allocate(64 << 10).block()) {
            assumeFalse(backend.isFallback(), "without io_uring, files are the JDK's channels");
            Random random = new Random(2);
            for (int i = 0; i < 300; i++) {
                int length = 1 + random.nextInt(16 << 10);
                long at = random.nextInt(BYTES - length);
                int target = random.nextInt(48 << 10);
                assertThat(read(backend, file, buffer, at, length, target)).isEqualTo(length);
                assertContent(buffer, at, length, target);
            }
            assertThat(endings)
                    .filteredOn(thread -> thread == Thread.currentThread())
                    .isNotEmpty();
        }
    }

    @Test
    void theEndOfTheFileIsWhereItIs() throws IOException {
        try (Backend backend = open(16 << 10);
                StorageFile file = backend.openFile(path).block();
                DeviceBuffer buffer = backend.allocate(4096).block()) {
            for (int i = 0; i < 40; i++) { // also while none is tried in the page cache
                assertThat(read(backend, file, buffer, BYTES - 100, 4096, 0)).isEqualTo(100);
                assertContent(buffer, BYTES - 100, 100, 0);
            }
        }
    }

    @Test
    void anOptionLeavesThemToTheQueue() {
        try (Backend backend = open(0);
                StorageFile file = backend.openFile(path).block();
                DeviceBuffer buffer = backend.allocate(4096).block()) {
            assertThat(read(backend, file, buffer, 0, 4096, 0)).isEqualTo(4096);
            assertThat(endings).hasSize(1).doesNotContain(Thread.currentThread());
        }
    }
}
