// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.penstock.engine.host.kernel.FileCalls;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.file.FileStamp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** The offsets come from struct statx in linux/stat.h. */
class FileStatusTest {

    private static final int REGULAR = 0x81a4;
    private static final int BLOCK = 0x61b0;

    @Test
    void everyFieldIsReadFromItsPlace() throws ErrnoException {
        FileStatus status = FileStatus.of(statx(REGULAR, 0x27ff), 5);
        assertThat(status.mode()).isEqualTo(REGULAR);
        assertThat(status.identity()).isEqualTo(new FileIdentity(8L << 32 | 17, 1234567890123L));
        assertThat(status.stamp()).isEqualTo(new FileStamp(98765, 3_000_000_007L, 2_000_000_009L));
        assertThat(status.directMemoryAlignment()).isEqualTo(512);
        assertThat(status.directOffsetAlignment()).isEqualTo(1024);
        assertThat(status.isRegular()).isTrue();
        assertThat(status.isBlockDevice()).isFalse();
        assertThat(status.isDirectory()).isFalse();
    }

    @Test
    void aBlockDeviceIsTheSameWhateverNodeNamesIt() throws ErrnoException {
        FileStatus status = FileStatus.of(statx(BLOCK, 0x27ff), 5);
        assertThat(status.identity()).isEqualTo(new FileIdentity(259L << 32 | 3, 0));
        assertThat(status.isBlockDevice()).isTrue();
        assertThat(status.isRegular()).isFalse();
    }

    @Test
    void aKernelThatDoesNotTellAlignmentsGetsAPage() throws ErrnoException {
        FileStatus status = FileStatus.of(statx(REGULAR, 0x7ff), 5);
        assertThat(status.directMemoryAlignment()).isEqualTo(4096);
        assertThat(status.directOffsetAlignment()).isEqualTo(4096);
    }

    @Test
    void aRefusalHasItsNumber() {
        FileCalls refusing = new FileCalls() {
            @Override
            public int status(int fd, int mask, long emptyPath, long statx) {
                return -Errno.EBADF;
            }
        };
        assertThatExceptionOfType(ErrnoException.class)
                .isThrownBy(() -> FileStatus.of(refusing, 5))
                .satisfies(refused -> assertThat(refused.nativeError().code()).isEqualTo(Errno.EBADF));
    }

    private static FileCalls statx(int mode, int told) {
        return new FileCalls() {
            @Override
            public int status(int fd, int mask, long emptyPath, long statx) {
                assertThat(fd).isEqualTo(5);
                assertThat(mask).isEqualTo(0x27ff);
                assertThat(NativeMemory.view(emptyPath, 1).get(0)).isZero();
                ByteBuffer at = NativeMemory.view(statx, 256).order(ByteOrder.nativeOrder());
                at.putInt(0, told).putShort(0x1c, (short) mode).putLong(0x20, 1234567890123L);
                at.putLong(0x28, 98765);
                at.putLong(0x60, 2).putInt(0x68, 9).putLong(0x70, 3).putInt(0x78, 7);
                at.putInt(0x80, 259).putInt(0x84, 3).putInt(0x88, 8).putInt(0x8c, 17);
                at.putInt(0x98, 512).putInt(0x9c, 1024);
                return 0;
            }
        };
    }

    /** As glibc joins both halves of a device's number: 259 is of NVMe disks, and a minor number may have 20 bits. */
    @Test
    void anIdentityReadsAsTheKeyOfTheJdk() {
        assertThat(new FileIdentity(259L << 32 | 3, 17)).hasToString("(dev=10303,ino=17)");
        assertThat(new FileIdentity(8L << 32 | 300, 1)).hasToString("(dev=10082c,ino=1)");
        assertThat(new FileIdentity(0x1234L << 32 | 0xfedcb, 1)).hasToString("(dev=1000fed234cb,ino=1)");
    }
}
