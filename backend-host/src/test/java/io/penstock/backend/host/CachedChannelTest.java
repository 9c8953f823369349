// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.ClosedException;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Channels of what the page cache has. */
@EnabledOnOs(OS.LINUX)
class CachedChannelTest {

    private static final int BYTES = 3 << 20;

    @TempDir
    Path temporary;

    private Backend backend;
    private Path path;

    @BeforeEach
    void open() throws IOException {
        backend = Backends.open("host");
        Path disk = Files.createDirectories(Path.of("target/cached").toAbsolutePath()); // /tmp may be memory
        path = Files.write(Files.createTempFile(disk, "file", ""), new byte[BYTES]);
        assumeFalse(backend.isFallback(), "without io_uring, files are the JDK's channels");
    }

    @AfterEach
    void close() throws IOException {
        backend.close();
        Files.delete(path);
    }

    private StorageFile file(FileOption... options) {
        return Objects.requireNonNull(backend.openFile(path, options).block());
    }

    @Test
    void itIsTheVeryFile() throws IOException {
        try (StorageFile file = file()) {
            Path other = Files.writeString(temporary.resolve("other"), "other");
            Files.delete(path);
            Files.copy(other, path);
            try (FileChannel channel = file.cachedChannel(0, BYTES).orElseThrow()) {
                ByteBuffer first = ByteBuffer.allocate(5);
                assertThat(channel.size()).isEqualTo(BYTES);
                channel.read(first);
                assertThat(first.array()).containsOnly(0);
            }
        }
    }

    @Test
    void bytesThatAreOnDiskOnlyHaveNone() throws Exception {
        try (StorageFile file = file()) {
            assertThat(isCached(file, 0, BYTES)).isTrue();
            // drops the second MiB, and what the kernel thinks belongs to it
            Process dropped = new ProcessBuilder(
                            "dd", "of=" + path, "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none")
                    .inheritIO()
                    .start();
            assumeTrue(dropped.waitFor() == 0, "dd cannot drop pages");
            assumeTrue(!Files.getFileStore(path).type().equals("tmpfs"), "a file system in memory");
            assertThat(isCached(file, 0, BYTES)).isFalse();
            Files.readAllBytes(path);
            assertThat(isCached(file, 1, BYTES - 1)).isTrue();
        }
    }

    private static boolean isCached(StorageFile file, long offset, long length) throws IOException {
        Optional<FileChannel> channel = file.cachedChannel(offset, length);
        if (channel.isPresent()) {
            channel.get().close();
        }
        return channel.isPresent();
    }

    @Test
    void whatIsAskedForMustBeThere() throws IOException {
        try (StorageFile file = file()) {
            assertThat(isCached(file, BYTES - 1, 1)).isTrue();
            assertThat(isCached(file, 0, 0)).isFalse();
            assertThat(isCached(file, 0, BYTES + 8192)).isFalse();
            assertThat(isCached(file, 0, 2L << 30)).isFalse();
            assertThatThrownBy(() -> file.cachedChannel(-1, 1)).isInstanceOf(IllegalArgumentException.class);
        }
        StorageFile closed = file();
        closed.close();
        assertThatThrownBy(() -> closed.cachedChannel(0, 1)).isInstanceOf(ClosedException.class);
        try (StorageFile file = file(FileOption.READ, FileOption.DIRECT)) {
            assertThat(isCached(file, 0, BYTES)).isFalse();
        }
        try (StorageFile file = file(FileOption.WRITE)) {
            assertThat(isCached(file, 0, BYTES)).isFalse();
        }
    }
}
