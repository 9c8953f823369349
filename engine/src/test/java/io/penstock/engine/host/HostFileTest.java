// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.FileOption;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.ffi.Errno;
import io.penstock.engine.spi.ffi.Machine;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class HostFileTest {
    private static final Set<FileOption> READ = Set.of(FileOption.READ);
    private static final Set<FileOption> WRITE = Set.of(FileOption.WRITE, FileOption.CREATE);

    @TempDir
    Path directory;

    /** Opens files in one of the two ways. */
    interface Opener {
        HostFile open(Path path, Set<FileOption> options, long pieceBytes) throws IOException;
    }

    static Stream<Opener> ways() {
        return Machine.isSupported() ? Stream.of(ChannelFile::open, LinuxFile::open) : Stream.of(ChannelFile::open);
    }

    @ParameterizedTest
    @MethodSource("ways")
    void refusalsAreTheJdksExceptions(Opener way) throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> way.open(directory.resolve("none"), READ, 4096))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessage(directory.resolve("none").toString());
        assertThatThrownBy(() -> way.open(file, Set.of(FileOption.WRITE, FileOption.CREATE_NEW), 4096))
                .isInstanceOf(FileAlreadyExistsException.class);
        assertThatThrownBy(() -> way.open(directory, READ, 4096))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("is a directory");
        assertThatThrownBy(() -> way.open(directory, Set.of(FileOption.WRITE), 4096))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("is a directory");
        assertThatThrownBy(() -> way.open(file.resolve("below"), READ, 4096)).isInstanceOf(FileSystemException.class);
        assertThatThrownBy(() -> way.open(file, Set.of(FileOption.READ, FileOption.CREATE), 4096))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @MethodSource("ways")
    void twoHandlesOfOneFileHaveOneIdentity(Opener way) throws IOException {
        Path path = Files.createFile(directory.resolve("a"));
        Path link = Files.createLink(directory.resolve("b"), path);
        try (AutoCloser a = new AutoCloser(way.open(path, READ, 4096));
                AutoCloser b = new AutoCloser(way.open(link, READ, 4096));
                AutoCloser c = new AutoCloser(way.open(directory.resolve("c"), WRITE, 4096))) {
            assertThat(a.file().identity())
                    .isEqualTo(b.file().identity())
                    .isNotEqualTo(c.file().identity());
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void lengthAndStampFollowTheFile(Opener way) throws IOException {
        try (AutoCloser closer = new AutoCloser(way.open(directory.resolve("file"), WRITE, 4096))) {
            HostFile file = closer.file();
            FileStamp empty = file.stamp();
            assertThat(file.size()).isZero();
            file.truncate(10_000);
            assertThat(file.size()).isEqualTo(10_000);
            assertThat(file.stamp()).isNotEqualTo(empty);
            file.truncate(5);
            assertThat(Files.size(file.path())).isEqualTo(5);
            assertThat(file.sync()).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void namesAreUtf8(Opener way) throws IOException {
        assumeTrue(
                !Machine.IS_LINUX || "UTF-8".equals(System.getProperty("sun.jnu.encoding")),
                "a JVM that sees file names as UTF-8");
        try (AutoCloser closer =
                new AutoCloser(way.open(directory.resolve("gr\u00f6\u00dfe \u4e2d \ud83d\udca7"), WRITE, 4096))) {
            assertThat(closer.file().path()).exists();
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void aClosedFileThrowsAndIsClosedOnce(Opener way) throws IOException {
        HostFile file = way.open(directory.resolve("file"), WRITE, 4096);
        file.close();
        file.close();
        assertThatThrownBy(file::size).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> file.truncate(1)).isInstanceOf(IOException.class);
    }

    @ParameterizedTest
    @MethodSource("ways")
    void directFilesTellTheirAlignments(Opener way) throws IOException {
        assumeTrue(
                ModuleLayer.boot().findModule("jdk.unsupported").isPresent(), "this Java runtime does no direct I/O");
        Path path = Files.createFile(directory.resolve("file"));
        try (AutoCloser direct = new AutoCloser(way.open(path, Set.of(FileOption.READ, FileOption.DIRECT), 100_000));
                AutoCloser cached = new AutoCloser(way.open(path, READ, 100_000))) {
            Limits limits = direct.file().limits();
            assertThat(limits.isBlockGranular()).isTrue();
            assertThat(limits.pieceBytes()).isBetween(50_000L, 100_000L);
            assertThat(cached.file().limits()).isEqualTo(Limits.none(100_000));
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    @EnabledOnOs(value = OS.LINUX, disabledReason = "what file system refuses direct I/O is known of Linux only")
    void aFileSystemThatDoesNoDirectIoRefusesTheFile(Opener way) {
        Path noDirect = Path.of("/proc/self/status");
        assertThatThrownBy(() -> way.open(noDirect, Set.of(FileOption.READ, FileOption.DIRECT), 4096))
                .isInstanceOf(FileSystemException.class);
    }

    @ParameterizedTest
    @MethodSource("ways")
    void directFilesThatAreOnlyWrittenCanBeReadForMergingAndGetAnyLength(Opener way) throws IOException {
        assumeTrue(
                ModuleLayer.boot().findModule("jdk.unsupported").isPresent(), "this Java runtime does no direct I/O");
        Path path = directory.resolve("merged");
        Files.write(path, new byte[] {1, 2, 3});
        Set<FileOption> options = Set.of(FileOption.WRITE, FileOption.DIRECT, FileOption.EXCLUSIVE);
        try (AutoCloser direct = new AutoCloser(way.open(path, options, 100_000));
                Slabs slabs = new Slabs()) {
            Slab block = slabs.allocate(4096);
            assertThat(direct.file().read(0, block.hostAddress(), 4096)).isEqualTo(3);
            block.free();
            direct.file().truncate(9001);
            assertThat(direct.file().size()).isEqualTo(9001);
            direct.file().truncate(9001);
            direct.file().truncate(9002);
        }
        byte[] bytes = Files.readAllBytes(path);
        assertThat(bytes).hasSize(9002).startsWith(1, 2, 3);
        assertThat(Arrays.copyOfRange(bytes, 3, 9002)).containsOnly(0);
    }

    static Stream<Opener> waysToLengthen() {
        FileCalls withoutFallocate = new FileCalls() {
            @Override
            public int allocate(int fd, long offset, long bytes) {
                return -Errno.EOPNOTSUPP;
            }
        };
        Opener another = (path, options, piece) -> LinuxFile.open(withoutFallocate, path, options, piece);
        return Machine.isSupported() ? Stream.concat(ways(), Stream.of(another)) : ways();
    }

    @ParameterizedTest
    @MethodSource("waysToLengthen")
    void lengtheningKeepsWhatIsThereFillsNoHoleAndNeverShortens(Opener way) throws IOException {
        Path path = Files.write(directory.resolve("file"), new byte[] {1, 2, 3});
        try (AutoCloser closer = new AutoCloser(way.open(path, Set.of(FileOption.READ, FileOption.WRITE), 4096))) {
            HostFile file = closer.file();
            file.lengthen(1L << 40); // more than the disk has
            assertThat(file.size()).isEqualTo(1L << 40);
            file.lengthen(10);
            assertThat(file.size()).isEqualTo(1L << 40);
        }
        try (InputStream bytes = Files.newInputStream(path)) {
            assertThat(bytes.readNBytes(5)).containsExactly(1, 2, 3, 0, 0);
        }
    }

    @Test
    void preallocationLengthensAndReserves() throws IOException {
        assumeTrue(Machine.isSupported(), "64-bit Linux on a known architecture");
        try (AutoCloser closer = new AutoCloser(LinuxFile.open(directory.resolve("file"), WRITE, 4096))) {
            closer.file().preallocate(1 << 20);
            assertThat(closer.file().size()).isEqualTo(1 << 20);
            assertThatThrownBy(() -> closer.file().preallocate(1L << 60))
                    .isInstanceOf(ErrnoException.class)
                    .hasMessageContaining("fallocate -> ")
                    .hasMessageMatching(".*(EFBIG \\(27\\)|ENOSPC \\(28\\))"); // the second from a tmpfs
        }
    }

    @Test
    void anInterruptedThreadDoesNotCloseTheChannel() throws IOException {
        try (AutoCloser closer = new AutoCloser(ChannelFile.open(directory.resolve("file"), WRITE, 4096))) {
            Thread.currentThread().interrupt();
            assertThat(closer.file().size()).isZero();
            assertThat(Thread.interrupted()).isTrue();
            assertThat(closer.file().size()).isZero();
        }
    }

    /** Closes at the end of a block; native files are not AutoCloseable, since the engine closes them. */
    record AutoCloser(HostFile file) implements AutoCloseable {
        @Override
        public void close() {
            file.close();
        }
    }
}
