// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files of more than 4 GiB, on every way, and where 32 bits are all that a driver's structures have. The files are
 * sparse; what would end up 4 GiB too early is seen there, too.
 */
@ExtendWith(SsgFake.class)
class LargeFilesTest {

    private static final int BLOCK = SsgFake.BLOCK;
    private static final int BYTES = 64 * BLOCK;
    private static final long LIMIT = 1L << 32;
    private static final long START = LIMIT - 3 * BLOCK;

    /** Which way files go, and where the structures lie. */
    enum Variant {
        SSG_1(1),
        SSG_2(2),
        STAGED(1);

        private final int layout;

        Variant(int layout) {
            this.layout = layout;
        }

        Options options() {
            SsgFake.reset(layout);
            Options ssg = SsgFake.options(layout).with(Dx11Options.SSG_REGION_BYTES, 4L * BLOCK);
            return this == STAGED ? ssg.with(Dx11Options.PATH, Dx11Path.STAGED) : ssg;
        }

        TransferPath path() {
            return this == STAGED ? TransferPath.STAGED : TransferPath.DIRECT;
        }
    }

    @TempDir
    Path folder;

    /** Makes a file that holds some bytes where 4 GiB end, and zeros before. */
    private Path large(byte[] bytes) throws IOException {
        Path path = folder.resolve("large");
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer rest = ByteBuffer.wrap(bytes);
            while (rest.hasRemaining()) {
                file.write(rest, START + rest.position());
            }
        }
        return path;
    }

    private static byte[] stored(Path path, long offset, int bytes) throws IOException {
        ByteBuffer found = ByteBuffer.allocate(bytes);
        try (FileChannel file = FileChannel.open(path)) {
            for (int count = 0; count >= 0 && found.hasRemaining(); ) {
                count = file.read(found, offset + found.position());
            }
        }
        return found.array();
    }

    private static StorageFile open(SsgBench bench, Path path, FileOption... options) {
        return bench.backend().openFile(path, options).block(SsgBench.PATIENCE);
    }

    @ParameterizedTest
    @EnumSource
    void bytesBeyondFourGibibytesAreRead(Variant variant) throws IOException {
        byte[] bytes = BackendFixture.random(BYTES, 1);
        Path path = large(bytes);
        try (SsgBench bench = new SsgBench(folder, variant.options());
                StorageFile file = open(bench, path, FileOption.READ)) {
            DeviceBuffer buffer = bench.buffer(BYTES);
            Completion done = bench.run(Transfer.read(file.region(START, BYTES), buffer.all()));
            assertThat(done.path()).isEqualTo(variant.path());
            assertThat(done.bytes()).isEqualTo(BYTES);
            assertThat(BackendFixture.content(buffer)).isEqualTo(bytes);
            // Not whole blocks, all of it beyond, and as far as the file goes.
            DeviceBuffer rest = bench.buffer(BYTES);
            assertThat(bench.run(Transfer.read(file.region(LIMIT + 77, BYTES), rest.all()))
                            .bytes())
                    .isEqualTo(BYTES - 3 * BLOCK - 77);
            assertThat(Arrays.copyOf(BackendFixture.content(rest), BYTES - 3 * BLOCK - 77))
                    .isEqualTo(Arrays.copyOfRange(bytes, 3 * BLOCK + 77, BYTES));
        }
    }

    @ParameterizedTest
    @EnumSource
    void bytesBeyondFourGibibytesAreWrittenAndNoneBefore(Variant variant) throws IOException {
        byte[] before = BackendFixture.random(BYTES, 2);
        byte[] bytes = BackendFixture.random(20 * BLOCK, 3);
        Path path = large(before);
        try (SsgBench bench = new SsgBench(folder, variant.options());
                StorageFile file = open(bench, path, FileOption.READ, FileOption.WRITE)) {
            DeviceBuffer buffer = bench.filled(bytes);
            Completion done = bench.run(Transfer.write(buffer.all(), file.region(LIMIT + 2 * BLOCK, 20 * BLOCK)));
            assertThat(done.path()).isEqualTo(variant.path());
            bench.run(Transfer.write(buffer.region(0, 1000), file.region(LIMIT - 300, 1000)));
            // Behind the end: the file grows.
            bench.run(Transfer.write(buffer.region(0, 5000), file.region(START + BYTES + 10, 5000)));
        }
        byte[] expected = Arrays.copyOf(before, BYTES + 5010);
        System.arraycopy(bytes, 0, expected, 5 * BLOCK, bytes.length);
        System.arraycopy(bytes, 0, expected, 3 * BLOCK - 300, 1000);
        System.arraycopy(bytes, 0, expected, BYTES + 10, 5000);
        assertThat(Files.size(path)).isEqualTo(START + expected.length);
        assertThat(stored(path, START, expected.length)).isEqualTo(expected);
        assertThat(stored(path, 0, 30 * BLOCK)).containsOnly(0);
    }

    @Test
    void fileOffsetsOfThirtyTwoBitsTakeWhatLiesBefore() throws IOException {
        byte[] bytes = BackendFixture.random(BYTES, 4);
        Path path = large(bytes);
        // The fake's own have 64, of which these are the lower half.
        Options narrow = SsgFake.options(1)
                .with(Dx11Options.SSG_HEADER, SsgFake.HEADER.replace("region.file=8", "region.file=4 region.upper=4"));
        try (SsgBench bench = new SsgBench(folder, narrow);
                StorageFile file = open(bench, path, FileOption.READ)) {
            DeviceBuffer buffer = bench.buffer(BYTES);
            Transfer beyond = Transfer.read(file.region(START, BYTES), buffer.all());
            assertThat(bench.backend().explain(beyond).whyNotDirect())
                    .contains("penstock.dx11.ssg.header has file offsets of 32 bits");
            assertThatThrownBy(() -> bench.run(beyond.requireDirect()))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("file offsets of 32 bits");
            assertThat(bench.run(beyond).path()).isEqualTo(TransferPath.STAGED);
            assertThat(BackendFixture.content(buffer)).isEqualTo(bytes);
            assertThat(bench.run(Transfer.read(file.region(START, BLOCK), buffer.region(BLOCK, BLOCK)))
                            .path())
                    .isEqualTo(TransferPath.DIRECT);
            assertThat(Arrays.copyOfRange(BackendFixture.content(buffer), BLOCK, 2 * BLOCK))
                    .isEqualTo(Arrays.copyOf(bytes, BLOCK));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void lengthsOfThirtyTwoBitsTakeNoLargerFile(boolean writes) throws IOException {
        byte[] bytes = BackendFixture.random(BYTES, 5);
        Path path = large(bytes);
        Options narrow = SsgFake.options(1)
                .with(
                        Dx11Options.SSG_HEADER,
                        SsgFake.HEADER.replace(
                                "info.file=8 info.block=4", "info.file=4 info.upper=4 info.block=4 info.rest=4"));
        FileOption[] options =
                writes ? new FileOption[] {FileOption.READ, FileOption.WRITE} : new FileOption[] {FileOption.READ};
        try (SsgBench bench = new SsgBench(folder, narrow);
                StorageFile file = open(bench, path, options)) {
            DeviceBuffer buffer = bench.buffer(BLOCK);
            Transfer inside = Transfer.read(file.region(START, BLOCK), buffer.all());
            assertThat(bench.backend().explain(inside).whyNotDirect()).contains("lengths of files of 32 bits");
            assertThat(bench.run(inside).path()).isEqualTo(TransferPath.STAGED);
            assertThat(BackendFixture.content(buffer)).isEqualTo(Arrays.copyOf(bytes, BLOCK));
        }
    }
}
