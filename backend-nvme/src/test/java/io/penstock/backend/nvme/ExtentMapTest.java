// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.backend.nvme.qemu.Ext4Image;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Extents of files of a real ext4, and what the kernel may answer beyond that. */
class ExtentMapTest {

    private static final int BLOCK = 4096;

    @TempDir
    Path scratch;

    @Test
    void aMapNamesTheBytesOfAFileOnTheDisk() throws IOException {
        try (Ext4Image disk = Ext4Image.of(scratch)) {
            Path file = disk.fragmented("file", 350);
            byte[] content = Files.readAllBytes(file);
            ExtentMap map = ExtentMap.of(disk.readOnly(), file);

            assertThat(map.bytes()).isEqualTo(350 * BLOCK - 100);
            assertThat(map.serial()).isEqualTo("PENSTOCK");
            assertThat(map.extents()).hasSizeGreaterThan(128); // more than one call of the kernel answers
            for (Extent extent : map.extents()) {
                int length = (int) Math.min(extent.bytes(), content.length - extent.offset());
                assertThat(disk.bytes(extent.place(), length))
                        .as("%s", extent)
                        .isEqualTo(ByteBuffer.wrap(content, (int) extent.offset(), length));
            }
            assertThat(map.matches(disk.bytes(map.superblock(), ExtentMap.SUPERBLOCK_BYTES)))
                    .isTrue();
            disk.unmount();
            disk.writable();
            assertThat(map.matches(disk.bytes(map.superblock(), ExtentMap.SUPERBLOCK_BYTES)))
                    .as("after a mount for writing")
                    .isFalse();
        }
    }

    @Test
    void whatCannotBeReadByItsExtentsIsRefused() throws IOException {
        try (Ext4Image disk = Ext4Image.of(scratch, "-O", "inline_data", "-I", "256")) {
            Path inline = disk.file("inline", 60);
            Path file = disk.file("whole", 3 * BLOCK);
            Path sparse = disk.file("sparse", BLOCK);
            Path grown = disk.file("grown", BLOCK);
            Path empty = disk.file("empty", 0);
            try (RandomAccessFile writer = new RandomAccessFile(sparse.toFile(), "rw")) {
                writer.seek(2 * BLOCK);
                writer.write(1);
            }
            try (RandomAccessFile writer = new RandomAccessFile(grown.toFile(), "rw")) {
                writer.setLength(2 * BLOCK);
            }
            Path reserved = disk.mount().resolve("reserved");
            Ext4Image.run("fallocate", "-l", "64K", reserved.toString());
            assertThatThrownBy(() -> ExtentMap.of(file))
                    .as("mounted for writing")
                    .hasMessageContaining("must be mounted read-only");

            Path root = disk.readOnly();
            assertThat(ExtentMap.of(root, file).extents()).hasSize(1);
            assertThat(ExtentMap.of(root, empty).extents()).isEmpty();
            assertThatThrownBy(() -> ExtentMap.of(root, inline)).hasMessageContaining("at 0 is data inside its inode");
            assertThatThrownBy(() -> ExtentMap.of(root, sparse)).hasMessageContaining("at 4096 is a hole");
            assertThatThrownBy(() -> ExtentMap.of(root, grown)).hasMessageContaining("at 4096 is a hole");
            assertThatThrownBy(() -> ExtentMap.of(root, reserved))
                    .hasMessageContaining("at 0 is space that was not written");
            assertThatThrownBy(() -> ExtentMap.of(file)).hasMessageContaining("must be an NVMe namespace, was loop");
        }
    }

    /** FIEMAP of ext4 does not mark it: what its extents hold is the ciphertext. */
    @Test
    void anEncryptedFileIsRefused() throws IOException {
        try (Ext4Image disk = Ext4Image.of(scratch, "-O", "encrypt")) {
            Path file = disk.file("plain", BLOCK);
            Path secret = Files.write(disk.encrypted("secrets").resolve("file"), new byte[BLOCK]);
            Path root = disk.readOnly();
            disk.addKey();

            assertThat(secret).hasBinaryContent(new byte[BLOCK]);
            assertThat(ExtentMap.of(root, file).bytes()).isEqualTo(BLOCK);
            assertThatThrownBy(() -> ExtentMap.of(root, secret)).hasMessageContaining("at 0 is encrypted data");
        }
    }

    /** An opened pipe would be waited for, and a directory has blocks, too. */
    @Test
    void whatIsNoRegularFileIsRefused() throws IOException {
        try (Ext4Image disk = Ext4Image.of(scratch)) {
            Path pipe = disk.mount().resolve("pipe");
            Ext4Image.run("mkfifo", pipe.toString());
            Path root = disk.readOnly();
            try (RandomAccessFile other = new RandomAccessFile(pipe.toFile(), "rw")) { // lest this waits, too
                assertThat(other.getFD().valid()).isTrue();
                for (Path path : List.of(pipe, disk.mount())) {
                    assertThatThrownBy(() -> ExtentMap.of(root, path))
                            .as("%s", path)
                            .hasMessageContaining("must be a regular file");
                }
            }
        }
    }

    /** A journal that was not replayed: its file system is not what its blocks show. */
    @Test
    void aFileSystemThatNeedsRecoveryIsRefused() throws IOException {
        try (Ext4Image disk = Ext4Image.of(scratch)) {
            Path file = disk.file("file", BLOCK);
            Path root = disk.crashed();
            assertThatThrownBy(() -> ExtentMap.of(root, file))
                    .hasMessageContaining("must be the superblock of a clean ext4");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0x6, no place yet",
        "0x88, encrypted data",
        "0x8, encoded data",
        "0x300, data inside its inode",
        "0x100, not aligned",
        "0x500, inside a block of others",
        "0x801, not written",
        "0x2001, other files share",
        "0x10001, unknown flag 0x10000"
    })
    void whatTheKernelMarksIsRefused(String flags, String reason) {
        ByteBuffer answer = answer(new long[] {0, 8 * BLOCK, BLOCK, 0}, new long[] {BLOCK, 99 * BLOCK, BLOCK, 0});
        answer.putInt(Fiemap.HEAD_BYTES + Fiemap.EXTENT_BYTES + 40, Integer.decode(flags));
        assertThatExceptionOfType(FileSystemException.class)
                .isThrownBy(() -> Fiemap.of(Path.of("file"), 2 * BLOCK, answer))
                .withMessageContaining("at 4096 is ")
                .withMessageContaining(reason);
    }

    @Test
    void neighboursAreOneExtent() throws IOException {
        ByteBuffer answer = answer(
                new long[] {0, 8 * BLOCK, BLOCK, 0x1000},
                new long[] {BLOCK, 9 * BLOCK, 2 * BLOCK, 0},
                new long[] {3 * BLOCK, 12 * BLOCK, BLOCK, 1});
        assertThat(Fiemap.of(Path.of("file"), 4 * BLOCK, answer))
                .containsExactly(new Extent(0, 8 * BLOCK, 3 * BLOCK), new Extent(3 * BLOCK, 12 * BLOCK, BLOCK));
    }

    /** Laid out as struct fiemap and struct fiemap_extent. */
    private static ByteBuffer answer(long[]... extents) {
        ByteBuffer answer = ByteBuffer.allocate(Fiemap.HEAD_BYTES + extents.length * Fiemap.EXTENT_BYTES)
                .order(ByteOrder.nativeOrder())
                .putInt(20, extents.length);
        for (int i = 0; i < extents.length; i++) {
            answer.position(Fiemap.HEAD_BYTES + i * Fiemap.EXTENT_BYTES)
                    .putLong(extents[i][0])
                    .putLong(extents[i][1])
                    .putLong(extents[i][2])
                    .putLong(0)
                    .putLong(0)
                    .putInt((int) extents[i][3]);
        }
        return answer;
    }

    @Test
    void aMapIsReadAsItWasWritten() throws IOException {
        ExtentMap map = new ExtentMap(
                9000, "A B 1", 3, 1024, "ab", List.of(new Extent(0, 4096, 8192), new Extent(8192, 1 << 30, 4096)));
        Path path = scratch.resolve("file.extents");
        map.write(path);
        assertThat(ExtentMap.read(path)).isEqualTo(map);

        List<String> lines = Files.readAllLines(path);
        for (int cut = 0; cut < lines.size(); cut++) {
            Files.write(path, lines.subList(0, cut));
            assertThatExceptionOfType(FileSystemException.class)
                    .as("%d lines", cut)
                    .isThrownBy(() -> ExtentMap.read(path))
                    .withMessageContaining("map");
        }
        Files.writeString(path, String.join("\n", lines).replace("8192 107", "8191 107"));
        assertThatThrownBy(() -> ExtentMap.read(path))
                .hasMessageContaining("an extent must begin at 8192, was at 8191");
    }
}
