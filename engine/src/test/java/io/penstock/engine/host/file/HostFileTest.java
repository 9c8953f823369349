// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.FileOption;
import io.penstock.engine.host.kernel.FileCalls;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.file.FileStamp;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

public class HostFileTest {
    private static final Set<FileOption> READ = Set.of(FileOption.READ);
    private static final Set<FileOption> WRITE = Set.of(FileOption.WRITE, FileOption.CREATE);

    @TempDir
    Path directory;

    /** Opens files in one of the two ways. */
    public interface Opener {
        HostFile open(Path path, Set<FileOption> options, long segmentBytes) throws IOException;
    }

    public static Stream<Opener> variants() {
        return Machine.isSupported() ? Stream.of(ChannelFile::open, LinuxFile::open) : Stream.of(ChannelFile::open);
    }

    @ParameterizedTest
    @MethodSource("variants")
    void refusalsAreTheJdksExceptions(Opener variant) throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> variant.open(directory.resolve("none"), READ, 4096))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessage(directory.resolve("none").toString());
        assertThatThrownBy(() -> variant.open(file, Set.of(FileOption.WRITE, FileOption.CREATE_NEW), 4096))
                .isInstanceOf(FileAlreadyExistsException.class);
        assertThatThrownBy(() -> variant.open(directory, READ, 4096))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("is a directory");
        assertThatThrownBy(() -> variant.open(directory, Set.of(FileOption.WRITE), 4096))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("is a directory");
        assertThatThrownBy(() -> variant.open(file.resolve("below"), READ, 4096))
                .isInstanceOf(FileSystemException.class);
        assertThatThrownBy(() -> variant.open(file, Set.of(FileOption.READ, FileOption.CREATE), 4096))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @MethodSource("variants")
    @Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aNamedPipeIsRefusedInsteadOfWaitedFor(Opener variant) throws Exception {
        assumeTrue(directory.getFileSystem().supportedFileAttributeViews().contains("unix"), "named pipes are Unix's");
        Path pipe = directory.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        for (Set<FileOption> options : List.of(READ, Set.of(FileOption.WRITE))) {
            assertThatThrownBy(() -> variant.open(pipe, options, 4096))
                    .isInstanceOf(FileSystemException.class)
                    .hasMessageContaining("neither a regular file nor a block device");
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    @EnabledOnOs(OS.LINUX)
    void aNameWhoseBytesAreNoTextInThisLocaleIsOpened(Opener variant) throws Exception {
        String latin1 = "mkdir \"$0/$(printf 'gr\\374n')\" && printf 123 >\"$0/$(printf 'gr\\374n/\\344 %%41;?')\"";
        assertThat(new ProcessBuilder("sh", "-c", latin1, directory.toString())
                        .start()
                        .waitFor())
                .isZero();
        try (Stream<Path> found = Files.walk(directory)) {
            List<Path> names = found.toList(); // the directory, the folder, and the file
            try (AutoCloser file = new AutoCloser(variant.open(names.get(2), READ, 4096))) {
                assertThat(file.file().size()).isEqualTo(3);
            }
            assertThatThrownBy(() -> variant.open(names.get(1), READ, 4096)).hasMessageContaining("is a directory");
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void twoHandlesOfOneFileHaveOneIdentity(Opener variant) throws IOException {
        Path path = Files.createFile(directory.resolve("a"));
        Path link = Files.createLink(directory.resolve("b"), path);
        try (AutoCloser a = new AutoCloser(variant.open(path, READ, 4096));
                AutoCloser b = new AutoCloser(variant.open(link, READ, 4096));
                AutoCloser c = new AutoCloser(variant.open(directory.resolve("c"), WRITE, 4096))) {
            assertThat(a.file().identity())
                    .isEqualTo(b.file().identity())
                    .isNotEqualTo(c.file().identity());
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void theAttributesAreThoseOfTheFileThatWasOpened(Opener variant) throws IOException {
        Path path = Files.writeString(directory.resolve("a"), "12345");
        BasicFileAttributes own = Files.readAttributes(path, BasicFileAttributes.class);
        try (AutoCloser a = new AutoCloser(variant.open(path, READ, 4096));
                AutoCloser again = new AutoCloser(variant.open(path, READ, 4096))) {
            BasicFileAttributes attributes = a.file().attributes();
            assertThat(attributes.size()).isEqualTo(5);
            assertThat(attributes.isRegularFile()).isTrue();
            assertThat(attributes.isDirectory() || attributes.isOther() || attributes.isSymbolicLink())
                    .isFalse();
            assertThat(attributes.lastModifiedTime()).isEqualTo(own.lastModifiedTime());
            assertThat(attributes.fileKey()).isEqualTo(again.file().attributes().fileKey());
            if (own.fileKey() != null) {
                assertThat(attributes.fileKey()).hasToString(own.fileKey().toString());
            }
        }
    }

    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "an open file cannot be replaced there")
    @ParameterizedTest
    @MethodSource("variants")
    void theAttributesAreNotThoseOfAFileThatReplacedTheOpenedOne(Opener variant) throws IOException {
        Path path = Files.writeString(directory.resolve("a"), "12345");
        FileTime written = Files.getLastModifiedTime(path);
        try (AutoCloser a = new AutoCloser(variant.open(path, READ, 4096))) {
            Path other = Files.writeString(directory.resolve("b"), "another");
            Files.setLastModifiedTime(other, FileTime.fromMillis(1000));
            Files.move(other, path, StandardCopyOption.REPLACE_EXISTING);
            BasicFileAttributes attributes = a.file().attributes();
            assertThat(attributes.size()).isEqualTo(5);
            assertThat(attributes.lastModifiedTime()).isEqualTo(written);
            try (AutoCloser b = new AutoCloser(variant.open(path, READ, 4096))) {
                assertThat(b.file().attributes().size()).isEqualTo(7);
                assertThat(b.file().attributes().lastModifiedTime()).isEqualTo(FileTime.fromMillis(1000));
                if (attributes.fileKey() != null) {
                    assertThat(b.file().attributes().fileKey()).isNotEqualTo(attributes.fileKey());
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void lengthAndStampFollowTheFile(Opener variant) throws IOException {
        try (AutoCloser closer = new AutoCloser(variant.open(directory.resolve("file"), WRITE, 4096))) {
            HostFile file = closer.file();
            FileStamp empty = file.stamp();
            assertThat(file).hasToString(file.path().toString());
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
    @MethodSource("variants")
    void namesAreUtf8(Opener variant) throws IOException {
        assumeTrue(
                !Machine.IS_LINUX || "UTF-8".equals(System.getProperty("sun.jnu.encoding")),
                "a JVM that sees file names as UTF-8");
        try (AutoCloser closer =
                new AutoCloser(variant.open(directory.resolve("gr\u00f6\u00dfe \u4e2d \ud83d\udca7"), WRITE, 4096))) {
            assertThat(closer.file().path()).exists();
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aClosedFileThrowsAndIsClosedOnce(Opener variant) throws IOException {
        HostFile file = variant.open(directory.resolve("file"), WRITE, 4096);
        file.close();
        file.close();
        assertThatThrownBy(file::size).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> file.truncate(1)).isInstanceOf(IOException.class);
    }

    @ParameterizedTest
    @MethodSource("variants")
    void directFilesTellTheirAlignments(Opener variant) throws IOException {
        assumeTrue(
                ModuleLayer.boot().findModule("jdk.unsupported").isPresent(), "this Java runtime does no direct I/O");
        Path path = Files.createFile(directory.resolve("file"));
        try (AutoCloser direct =
                        new AutoCloser(variant.open(path, Set.of(FileOption.READ, FileOption.DIRECT), 100_000));
                AutoCloser cached = new AutoCloser(variant.open(path, READ, 100_000))) {
            Limits limits = direct.file().limits();
            assertThat(limits.isBlockGranular()).isTrue();
            assertThat(limits.segmentBytes()).isBetween(50_000L, 100_000L);
            assertThat(cached.file().limits()).isEqualTo(Limits.none(100_000));
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    @EnabledOnOs(value = OS.LINUX, disabledReason = "what file system refuses direct I/O is known of Linux only")
    void aFileSystemThatDoesNoDirectIoRefusesTheFile(Opener variant) {
        Path noDirect = Path.of("/proc/self/status");
        assertThatThrownBy(() -> variant.open(noDirect, Set.of(FileOption.READ, FileOption.DIRECT), 4096))
                .isInstanceOf(FileSystemException.class);
    }

    @ParameterizedTest
    @MethodSource("variants")
    void directFilesThatAreOnlyWrittenCanBeReadForMergingAndGetAnyLength(Opener variant) throws IOException {
        assumeTrue(
                ModuleLayer.boot().findModule("jdk.unsupported").isPresent(), "this Java runtime does no direct I/O");
        Path path = directory.resolve("merged");
        Files.write(path, new byte[] {1, 2, 3});
        Set<FileOption> options = Set.of(FileOption.WRITE, FileOption.DIRECT, FileOption.EXCLUSIVE);
        try (AutoCloser direct = new AutoCloser(variant.open(path, options, 100_000));
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
        Opener another = (path, options, segment) -> LinuxFile.open(withoutFallocate, path, options, segment);
        return Machine.isSupported() ? Stream.concat(variants(), Stream.of(another)) : variants();
    }

    @ParameterizedTest
    @MethodSource("waysToLengthen")
    void lengtheningKeepsWhatIsThereFillsNoHoleAndNeverShortens(Opener variant) throws IOException {
        Path path = Files.write(directory.resolve("file"), new byte[] {1, 2, 3});
        try (AutoCloser closer = new AutoCloser(variant.open(path, Set.of(FileOption.READ, FileOption.WRITE), 4096))) {
            HostFile file = closer.file();
            file.lengthen(3); // as long as it is
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
