// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.FileOption;
import io.penstock.Outcome;
import io.penstock.TransientStorageException;
import io.penstock.engine.host.kernel.FileCalls;
import io.penstock.engine.host.kernel.ScriptedKernel;
import io.penstock.engine.host.uring.RingRegistration;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A file of 1000 bytes behind descriptor 0, and the system calls about it. */
class LinuxFileTest {

    private static final int MODE = 0x1c; // in struct statx
    private static final short S_IFBLK = 0x6000;
    private static final Set<FileOption> READ = Set.of(FileOption.READ);

    @TempDir
    Path folder;

    private final Calls calls = new Calls();
    private Path path;
    private int actual;

    /** The calls of the system, on the test's own descriptor. */
    private final class Calls implements FileCalls {
        final List<Integer> flags = new ArrayList<>();
        final List<Integer> closed = new ArrayList<>();
        int openAnswer;
        long fileSystem = 0xEF53; // ext4
        boolean isBlockDevice;
        long seekAnswer;
        int allocations;
        int cachedReads;
        long cachedAnswer;

        @Override
        public int open(byte[] name, int how, int mode) {
            flags.add(how);
            return openAnswer;
        }

        @Override
        public long fileSystem(int fd, ByteBuffer statfs) {
            return fileSystem;
        }

        @Override
        public int status(int fd, int mask, long emptyPath, long statx) {
            int answer = FileCalls.LINUX.status(actual, mask, emptyPath, statx);
            if (isBlockDevice) {
                NativeMemory.view(statx, 256).putShort(MODE, S_IFBLK);
            }
            return answer;
        }

        @Override
        public long seekEnd(int fd) {
            return seekAnswer != 0 ? seekAnswer : FileCalls.LINUX.seekEnd(actual);
        }

        @Override
        public long readCached(int fd, long address, long bytes, long offset) {
            cachedReads++;
            return cachedAnswer;
        }

        @Override
        public int allocate(int fd, long offset, long bytes) {
            allocations++;
            return FileCalls.LINUX.allocate(actual, offset, bytes);
        }

        @Override
        public int close(int fd) {
            closed.add(fd);
            return 0;
        }
    }

    @BeforeAll
    static void onLinux() {
        assumeTrue(Machine.isSupported(), "64-bit Linux on a known architecture");
    }

    @BeforeEach
    void make() throws IOException {
        path = Files.write(folder.resolve("file"), new byte[1000]);
        byte[] name = (path + "\0").getBytes(StandardCharsets.UTF_8);
        actual = FileCalls.LINUX.open(name, LibC.O_RDWR | LibC.O_CLOEXEC, 0);
        assertThat(actual).isPositive();
    }

    @AfterEach
    void closeIt() {
        assertThat(FileCalls.LINUX.close(actual)).isZero();
        assertThat(FileCalls.LINUX.close(-1)).isEqualTo(-Errno.EBADF);
    }

    private LinuxFile open(FileOption... options) throws IOException {
        return LinuxFile.open(calls, path, Set.of(options), 4096);
    }

    @Test
    void aBlockDeviceIsAsLongAsItsLastByteIsFar() throws IOException {
        calls.isBlockDevice = true;
        LinuxFile device = open(FileOption.READ);
        assertThat(device.size()).isEqualTo(1000);
        assertThat(device).hasToString(path.toString());
        calls.seekAnswer = -Errno.EIO;
        assertThatThrownBy(device::size).isInstanceOf(ErrnoException.class).hasMessageContaining("EIO (5)");
        device.close();
    }

    @Test
    void onlyFilesAndBlockDevicesAreOpened() {
        assertThatThrownBy(() -> LinuxFile.open(Path.of("/dev/null"), READ, 4096))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("neither a regular file nor a block device");
    }

    @Test
    void descriptorZeroIsClosedLikeAnyOtherAndItsIndexIsFreeAgain() throws IOException {
        LinuxFile file = open(FileOption.READ);
        int index = file.index();
        file.close();
        file.close();
        assertThat(calls.closed).containsExactly(0);
        assertThat(file.fd()).isNegative();
        LinuxFile next = open(FileOption.READ);
        assertThat(next.index()).isEqualTo(index);
        next.close();
    }

    @Test
    void aClosedFileIsNotPutIntoATable() throws IOException {
        LinuxFile file = open(FileOption.READ);
        ScriptedKernel kernel = new ScriptedKernel();
        kernel.registerAnswer = 1; // how many were updated
        RingRegistration registration = new RingRegistration(kernel, -1);
        assertThat(file.register(registration)).isTrue();
        file.close();
        assertThat(kernel.registered).as("taken out again").hasSize(2);
        assertThat(file.register(registration)).isFalse();
        kernel.registerAnswer = -Errno.EINVAL;
        LinuxFile refused = open(FileOption.READ);
        assertThat(refused.register(registration)).isFalse();
        refused.close();
        assertThat(kernel.registered).as("of the one that was refused: one").hasSize(3);
    }

    @Test
    void aFileIsOpenedForWhatItIsUsedFor() throws IOException {
        open(FileOption.READ).close();
        open(FileOption.WRITE).close();
        open(FileOption.READ, FileOption.WRITE).close();
        open().close();
        open(FileOption.WRITE, FileOption.CREATE).close();
        open(FileOption.WRITE, FileOption.CREATE_NEW).close();
        open(FileOption.WRITE, FileOption.TRUNCATE).close();
        assertThat(calls.flags)
                .extracting(flags -> flags & ~LibC.O_CLOEXEC)
                .containsExactly(
                        LibC.O_RDONLY,
                        LibC.O_WRONLY,
                        LibC.O_RDWR,
                        LibC.O_RDONLY,
                        LibC.O_WRONLY | LibC.O_CREAT,
                        LibC.O_WRONLY | LibC.O_CREAT | LibC.O_EXCL,
                        LibC.O_WRONLY | LibC.O_TRUNC);
    }

    @Test
    void aFileThatIsLongEnoughIsNotLengthened() throws IOException {
        LinuxFile file = open(FileOption.WRITE);
        file.lengthen(999);
        file.lengthen(1000);
        assertThat(calls.allocations).isZero();
        file.lengthen(1001);
        assertThat(calls.allocations).isOne();
        assertThat(file.size()).isEqualTo(1001);
        file.close();
    }

    @Test
    void aLimitOfOpenFilesIsTransientAndNamesItsRemedy() {
        calls.openAnswer = -Errno.EMFILE;
        assertThatThrownBy(() -> open(FileOption.READ))
                .isInstanceOfSatisfying(TransientStorageException.class, failure -> {
                    assertThat(failure.outcome()).isEqualTo(Outcome.NOT_STARTED);
                    assertThat(failure.nativeError().orElseThrow().symbol()).isEqualTo("EMFILE");
                })
                .hasMessageContaining(path.toString())
                .hasMessageContaining("ulimit -n");
        calls.openAnswer = -Errno.ENFILE;
        assertThatThrownBy(() -> open(FileOption.READ))
                .isInstanceOf(TransientStorageException.class)
                .hasMessageContaining("fs.file-max");
        calls.openAnswer = -Errno.ENOMEM;
        assertThatThrownBy(() -> open(FileOption.READ)).isInstanceOf(TransientStorageException.class);
    }

    private LinuxFile openOn(long fileSystem, FileOption... options) throws IOException {
        calls.fileSystem = fileSystem;
        LinuxFile file = open(options);
        file.close(); // it keeps what it has found
        return file;
    }

    @ParameterizedTest
    @ValueSource(longs = {0xEF53, 0x58465342, 0x01021994, -Errno.ENOSYS})
    void filesOfADiskGoByTheRing(long fileSystem) throws IOException {
        LinuxFile file = openOn(fileSystem, FileOption.READ);
        assertThat(file.lane()).isNull();
        assertThat(file.reason()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {0x65735546, 0x6969, 0xFF534D42L, 0x1234})
    void filesThatMayWaitForAServerShareALane(long fileSystem) throws IOException {
        LinuxFile file = openOn(fileSystem, FileOption.READ);
        assertThat(file.lane())
                .isNotNull()
                .isEqualTo(openOn(fileSystem, FileOption.READ).lane());
        assertThat(file.reason()).startsWith("blocking calls on threads: the file system is ");
    }

    @Test
    void onlyDirectRequestsOfALayeredFileSystemNeedWorkers() throws IOException {
        long overlay = 0x794c7630;
        assertThat(openOn(overlay, FileOption.READ).needsWorkers()).isFalse();
        assertThat(openOn(overlay, FileOption.READ, FileOption.DIRECT).needsWorkers())
                .isTrue();
        assertThat(openOn(0xEF53, FileOption.READ, FileOption.DIRECT).needsWorkers())
                .isFalse();
    }

    /** An overlay that the kernel does not know as one, as in this test. */
    @Test
    void anOverlayWhoseLayersCannotBeFoundGoesByBlockingCalls() throws IOException {
        LinuxFile file = openOn(0x794c7630, FileOption.READ);
        assertThat(file.lane()).isNotNull();
        assertThat(file.reason())
                .isEqualTo("blocking calls on threads: the file system is an overlay on layers that are not known");
    }

    /** Random reads of a large file must not cost two system calls each. */
    @Test
    void afterAReadThatThePageCacheDoesNotHaveSomeAreNotTried() throws IOException {
        try (LinuxFile file = open(FileOption.READ)) {
            calls.cachedAnswer = 100;
            assertThat(file.readCached(0, 1, 100)).isEqualTo(100);
            assertThat(file.readCached(0, 1, 100)).isEqualTo(100);
            calls.cachedAnswer = -Errno.EAGAIN;
            for (int i = 0; i < 18; i++) {
                assertThat(file.readCached(0, 1, 100)).isLessThanOrEqualTo(0);
            }
            assertThat(calls.cachedReads).isEqualTo(4);
            calls.cachedAnswer = -Errno.EOPNOTSUPP;
            for (int i = 0; i < 100; i++) {
                assertThat(file.readCached(0, 1, 100)).isLessThanOrEqualTo(0);
            }
            assertThat(calls.cachedReads).as("a file system that does not tell").isEqualTo(5);
        }
    }

    @Test
    void filesThatMayWaitOrBypassThePageCacheAreNotReadFromIt() throws IOException {
        calls.cachedAnswer = 100;
        assertThat(openOn(0x6969, FileOption.READ).readCached(0, 1, 100)).isZero();
        assertThat(openOn(0x794c7630, FileOption.READ).readCached(0, 1, 100)).isZero();
        assertThat(openOn(0xEF53, FileOption.READ, FileOption.DIRECT).readCached(0, 1, 100))
                .isZero();
        assertThat(calls.cachedReads).isZero();
    }

    @Test
    void aRefusalMentionsDirectIoOnlyIfItWasRequested() {
        calls.openAnswer = -Errno.EINVAL;
        assertThatThrownBy(() -> open(FileOption.READ))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("EINVAL (22)")
                .hasMessageNotContaining("direct");
        assertThatThrownBy(() -> open(FileOption.READ, FileOption.DIRECT))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("direct I/O");
    }
}
