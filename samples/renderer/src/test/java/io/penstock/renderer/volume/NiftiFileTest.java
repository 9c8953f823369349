// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.engine.kit.ffi.UnnamedFile;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class NiftiFileTest {

    private final Phantom phantom = Phantom.ball(VoxelType.INT16, ByteOrder.BIG_ENDIAN, 50, 40, 30);

    @TempDir
    Path folder;

    @Test
    void aPlainFileIsUsedAsItIs() throws Exception {
        Path path = Files.write(folder.resolve("plain.nii"), phantom.bytes());
        try (NiftiFile file = NiftiFile.open(path, InflationProgress.SILENT)) {
            assertThat(file.path()).isEqualTo(path);
            assertThat(file.temporary()).isFalse();
        }
        assertThat(path).exists();
    }

    @Test
    void aCompressedFileIsInflatedWithProgressAndNothingIsLeftByAKilledProcess() throws Exception {
        Path path = Files.write(folder.resolve("named-badly.nii"), phantom.gzipped());
        List<Path> before = temporaries();
        List<Path> open = unnamed();
        var probe = UnnamedFile.in(Path.of(System.getProperty("java.io.tmpdir")), 0600);
        probe.ifPresent(UnnamedFile::close);
        boolean unnamed = probe.isPresent();
        List<Long> done = new ArrayList<>();
        try (NiftiFile file = NiftiFile.open(path, (into, bytes, total) -> {
            done.add(bytes);
            assertThat(into).contains(System.getProperty("java.io.tmpdir"));
            assertThat(named().equals(before)).isEqualTo(unnamed);
        })) {
            assertThat(file.temporary()).isTrue();
            assertThat(file.path()).isNotEqualTo(path).hasBinaryContent(phantom.bytes());
            assertThat(temporaries().equals(before)).isEqualTo(unnamed);
        }
        assertThat(temporaries()).isEqualTo(before);
        assertThat(unnamed())
                .as("files without a name, whose blocks the disk keeps")
                .isEqualTo(open);
        assertThat(path).exists();
        assertThat(done).isNotEmpty().isSorted().endsWith((long) phantom.bytes().length);
    }

    @Test
    void withoutUnnamedFilesATemporaryFileIsDeletedAtTheEnd() throws Exception {
        Path path;
        try (InflatedFile file = InflatedFile.named(folder)) {
            path = Files.write(file.path(), new byte[1]);
            assertThat(path.getParent()).isEqualTo(folder);
            assertThat(file.toString()).startsWith(path.toString()).endsWith("which is deleted at the end");
        }
        assertThat(path).doesNotExist();
    }

    private static List<Path> named() {
        try {
            return temporaries();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void onlyTheFirstVolumeIsInflated() throws Exception {
        Path path = folder.resolve("four.nii.gz");
        try (GZIPOutputStream gzip = new GZIPOutputStream(Files.newOutputStream(path))) {
            gzip.write(phantom.dim(0, 4).dim(4, 9).bytes());
            gzip.write(new byte[1 << 20]); // of the second one
        }
        try (NiftiFile file = NiftiFile.open(path, InflationProgress.SILENT)) {
            assertThat(file.path()).hasSize(file.header().end());
        }
    }

    @Test
    void aTruncatedFileIsReportedWithTheMissingBytes() throws Exception {
        byte[] bytes = phantom.bytes();
        assertBad(
                Arrays.copyOf(bytes, bytes.length - 1),
                " is truncated: the header specifies 120000 bytes of voxels from byte 352 but the file ends at 120351"
                        + " (1 byte missing)");
        assertBad(Arrays.copyOf(bytes, 352), "the file ends at 352 (120000 bytes missing)");
        assertBad(Arrays.copyOf(bytes, 100), "its header must have 348 bytes, but the file has 100");
        assertBad(new byte[0], "it must begin with the header's length, 348 or 540");
    }

    @Test
    void damagedGzipLeavesNothingBehind() throws Exception {
        byte[] gzip = phantom.gzipped();
        List<Path> before = temporaries();
        List<Path> open = unnamed();
        assertBad(Arrays.copyOf(gzip, gzip.length / 2), " is truncated: its gzip data end early");
        assertBad(Arrays.copyOf(gzip, gzip.length - 3), " is truncated: its gzip data end early");
        assertBad(Arrays.copyOf(gzip, 5), " is truncated: its gzip data end early");
        byte[] flipped = gzip.clone();
        flipped[gzip.length - 6] ^= 1; // in the checksum
        assertBad(flipped, " is damaged: ");
        byte[] corrupt = gzip.clone();
        Arrays.fill(corrupt, gzip.length / 2, gzip.length / 2 + 64, (byte) 0xff);
        assertBad(corrupt, " is ");
        assertThat(temporaries()).isEqualTo(before);
        assertThat(unnamed())
                .as("files without a name, whose blocks the disk keeps")
                .isEqualTo(open);
    }

    @Test
    void aCompressedFileThatIsShorterThanItsHeaderIsRefused() throws Exception {
        assertBad(phantom.dim(3, 31).gzipped(), "(4000 bytes missing)");
    }

    @Test
    void aCompressedFileThatWouldFillTheDiskIsRefusedBeforeItDoes() throws Exception {
        assertBad(phantom.dim(1, 32000).dim(2, 16000).dim(3, 1000).gzipped(), "disk full: ");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aNamedPipeIsRefusedInsteadOfWaitedFor() throws Exception {
        Path pipe = folder.resolve("pipe.nii");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        assertThatThrownBy(() -> NiftiFile.open(pipe, InflationProgress.SILENT))
                .isInstanceOf(BadVolumeException.class)
                .hasMessage(pipe + " is not a regular file");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void whatTakesThePlaceOfAnOpenFileIsRefusedInsteadOfWaitedFor() throws Exception {
        Path path = Files.write(folder.resolve("ball.nii"), phantom.bytes());
        try (NiftiFile file = NiftiFile.open(path, InflationProgress.SILENT)) {
            file.checkSame();
            Files.delete(path);
            assertThat(new ProcessBuilder("mkfifo", path.toString()).start().waitFor())
                    .isZero();
            assertThatThrownBy(file::checkSame)
                    .isInstanceOf(BadVolumeException.class)
                    .hasMessage(path + " is not a regular file");
            Files.delete(path);
            Files.createDirectory(path);
            assertThatThrownBy(file::checkSame).hasMessage(path + " is a directory, not a NIfTI file");
        }
    }

    @Test
    void aFolderAndAMissingFileAreNamed() {
        assertThatThrownBy(() -> NiftiFile.open(folder, InflationProgress.SILENT))
                .hasMessage(folder + " is a directory, not a NIfTI file");
        Path nowhere = folder.resolve("nowhere.nii");
        assertThatThrownBy(() -> NiftiFile.open(nowhere, InflationProgress.SILENT))
                .isInstanceOf(BadVolumeException.class)
                .hasMessage("there is no file " + nowhere);
    }

    private void assertBad(byte[] bytes, String fact) throws Exception {
        Path path = Files.write(folder.resolve("bad.nii"), bytes);
        assertThatThrownBy(() -> NiftiFile.open(path, InflationProgress.SILENT))
                .isInstanceOf(BadVolumeException.class)
                .hasMessageContaining("bad.nii")
                .hasMessageContaining(fact)
                .hasMessageNotContaining("\n");
    }

    private static List<Path> temporaries() throws Exception {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.filter(path -> path.getFileName().toString().startsWith(InflatedFile.PREFIX))
                    .sorted()
                    .toList();
        }
    }

    /** Returns the open files of the folder for temporary files that have no name; none where they cannot be listed. */
    private static List<Path> unnamed() throws IOException {
        Path descriptors = Path.of("/proc/self/fd");
        if (!Files.isDirectory(descriptors)) {
            return List.of();
        }
        Path folder = Path.of(System.getProperty("java.io.tmpdir")).toRealPath();
        List<Path> unnamed = new ArrayList<>();
        try (Stream<Path> all = Files.list(descriptors)) {
            for (Path descriptor : all.toList()) {
                try {
                    Path file = Files.readSymbolicLink(descriptor);
                    if (file.startsWith(folder)
                            && String.valueOf(file.getFileName()).matches("#\\d+ \\(deleted\\)")) {
                        unnamed.add(file);
                    }
                } catch (NoSuchFileException closed) {
                    // the descriptor of the list itself
                }
            }
        }
        return unnamed;
    }
}
