// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.fakes.FreshSsg;
import io.penstock.backend.opencl.fakes.SsgFake;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of transfers by the extension: which commands, and what lands where. */
@ExtendWith(FreshSsg.class)
class SsgPathTest {

    private static final int BLOCK = 512;

    static Stream<Arguments> sizes() {
        return Stream.of(SsgFixture.OPTIONS, SsgFixture.RING)
                .flatMap(options -> Stream.of(0, 1, 511, 512, 513, 4096, 65_536, 65_537, 300_001)
                        .map(size -> Arguments.of(options, size)));
    }

    @ParameterizedTest
    @MethodSource("sizes")
    void everySizeIsReadToTheDeviceAndBack(Options options, int size) throws IOException {
        byte[] bytes = BackendFixture.random(size, size);
        Path copy = SsgFixture.write("copy", new byte[0]);
        try (SsgFixture ssg = SsgFixture.open(options)) {
            DeviceBuffer buffer = ssg.buffer(size);
            assertThat(ssg.read(ssg.file("whole", bytes), buffer).bytes()).isEqualTo(size);
            assertThat(BackendFixture.content(buffer)).isEqualTo(bytes);

            StorageFile to = ssg.file(copy, FileOption.READ, FileOption.WRITE);
            Completion written = ssg.run(Transfer.write(buffer.all(), to.region(0, size)));
            assertThat(written.bytes()).isEqualTo(size);
        }
        assertThat(Files.readAllBytes(copy)).isEqualTo(bytes);
    }

    @Test
    void theEndOfAFileIsReadAsAWholeBlockInsideTheMemoryOfTheBuffer() throws IOException {
        byte[] bytes = BackendFixture.random(3 * BLOCK + 100, 1);
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            DeviceBuffer buffer = ssg.buffer(bytes.length);
            assertThat(ssg.read(ssg.file("end", bytes), buffer).bytes()).isEqualTo(bytes.length);
            assertThat(ssg.control.calls(SsgFixture.READ)).isEqualTo(1);
            assertThat(ssg.control.calls("clEnqueueCopyBuffer")).isZero();
            assertThat(BackendFixture.content(buffer)).isEqualTo(bytes);
        }
    }

    @Test
    void otherEdgesGoByStagingBuffersAndTheRestByAlignedCommands() throws IOException {
        byte[] bytes = BackendFixture.random(10 * BLOCK, 2);
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            DeviceBuffer buffer = ssg.buffer(bytes.length);
            StorageFile file = ssg.file("edges", bytes);
            ssg.run(Transfer.read(file.region(100, 8 * BLOCK), buffer.region(100, 8 * BLOCK)));
            assertThat(ssg.control.calls(SsgFixture.READ))
                    .as("head, body, tail")
                    .isEqualTo(3);
            assertThat(ssg.control.calls("clEnqueueCopyBuffer"))
                    .as("of head and tail")
                    .isEqualTo(2);
            byte[] arrived = BackendFixture.content(buffer);
            assertThat(Arrays.copyOfRange(arrived, 100, 100 + 8 * BLOCK))
                    .isEqualTo(Arrays.copyOfRange(bytes, 100, 100 + 8 * BLOCK));
            assertThat(SsgFake.refusals()).isEmpty();
        }
    }

    /** The staging buffer has what the driver puts behind the end of a file, until the processor has cleared that. */
    @Test
    void required_206_whatAWriteBehindTheEndLeavesOpenIsZero() throws IOException {
        byte[] bytes = BackendFixture.random(100, 3);
        Path path = SsgFixture.write("gap", bytes);
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            DeviceBuffer buffer = ssg.filled(bytes);
            StorageFile file = ssg.file(path, FileOption.READ, FileOption.WRITE);
            ssg.run(Transfer.write(buffer.all(), file.region(300, 100)));
        }
        byte[] expected = Arrays.copyOf(bytes, 400);
        System.arraycopy(bytes, 0, expected, 300, 100);
        assertThat(Files.readAllBytes(path)).isEqualTo(expected);
    }

    @Test
    void transfersAlignedDifferentlyInBufferAndFileAreStagedCompletely() throws IOException {
        byte[] bytes = BackendFixture.random(4 * BLOCK, 3);
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            DeviceBuffer buffer = ssg.buffer(8 * BLOCK);
            ssg.run(Transfer.read(ssg.file("shifted", bytes).all(), buffer.region(7, bytes.length)));
            assertThat(Arrays.copyOfRange(BackendFixture.content(buffer), 7, 7 + bytes.length))
                    .isEqualTo(bytes);
            assertThat(SsgFake.refusals()).isEmpty();
        }
    }

    @Test
    void throughTheRingAnyByteOfTheBufferIsReachedByOneCopyOnTheDevice() throws IOException {
        byte[] bytes = BackendFixture.random(4 * BLOCK, 4);
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.RING)) {
            DeviceBuffer buffer = ssg.buffer(8 * BLOCK);
            ssg.run(Transfer.read(ssg.file("shifted", bytes).all(), buffer.region(7, bytes.length)));
            assertThat(ssg.control.calls(SsgFixture.READ)).isEqualTo(1);
            assertThat(ssg.control.calls("clEnqueueCopyBuffer")).isEqualTo(1);
            assertThat(Arrays.copyOfRange(BackendFixture.content(buffer), 7, 7 + bytes.length))
                    .isEqualTo(bytes);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "Müller & Söhne", "大きい", "\uD83D\uDCBE 4096"})
    void namesMayHaveAnyCharacters(String name) throws IOException {
        byte[] bytes = BackendFixture.random(BLOCK, 5);
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            DeviceBuffer buffer = ssg.buffer(BLOCK);
            assertThat(ssg.read(ssg.file(name, bytes), buffer).path()).isEqualTo(TransferPath.DIRECT);
            assertThat(BackendFixture.content(buffer)).isEqualTo(bytes);
        }
    }

    @Test
    void aCompletionReportsWhatIsComputedAndWhatIsNotReported() throws IOException {
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            Completion done = ssg.read(ssg.file("said", new byte[100]), ssg.buffer(4096));
            assertThat(done.bytes()).as("up to the end of the file").isEqualTo(100);
            assertThat(done.path()).isEqualTo(TransferPath.DIRECT);
            assertThat(done.evidence()).isEqualTo(Evidence.INFERRED);
            assertThat(done.reason()).contains("counts are computed").contains("nor does it report a fallback");
        }
    }

    @Test
    void bytesWrittenBeyondTheEndAreReadThoughFileObjectsKeepTheOldSize() throws IOException {
        SsgFake.set("growth_seen", 0);
        SsgFake.set("grows", 0);
        byte[] bytes = BackendFixture.random(5000, 6);
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            StorageFile file = ssg.file(SsgFixture.write("grows", new byte[10]), FileOption.READ, FileOption.WRITE);
            DeviceBuffer from = ssg.filled(bytes);
            ssg.run(Transfer.write(from.all(), file.region(2000, 5000)));
            assertThat(file.size()).isEqualTo(7000);
            DeviceBuffer to = ssg.buffer(5000);
            assertThat(ssg.run(Transfer.read(file.region(2000, 5000), to.all())).bytes())
                    .isEqualTo(5000);
            assertThat(BackendFixture.content(to)).isEqualTo(bytes);
        }
    }

    @Test
    void bytesAppendedToTheLastBlockSinceTheOpenAreReadToo() throws IOException {
        SsgFake.set("growth_seen", 0);
        byte[] bytes = BackendFixture.random(BLOCK, 9);
        Path path = SsgFixture.write("grown", Arrays.copyOf(bytes, 100));
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            StorageFile file = ssg.file(path, FileOption.READ);
            Files.write(path, bytes);
            DeviceBuffer buffer = ssg.buffer(BLOCK);
            assertThat(ssg.read(file, buffer).bytes()).isEqualTo(BLOCK);
            assertThat(BackendFixture.content(buffer)).isEqualTo(bytes);
        }
    }

    @Test
    void aFileThatAnotherHasTheNameOfIsNotOpenedAnew() throws IOException {
        SsgFake.set("growth_seen", 0);
        Path path = SsgFixture.write("renamed", new byte[100]);
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            StorageFile file = ssg.file(path, FileOption.READ, FileOption.WRITE);
            file.truncate(BLOCK).block(SsgFixture.LONG);
            Files.delete(path);
            SsgFixture.write("renamed", BackendFixture.random(BLOCK, 10));
            assertThatThrownBy(() -> ssg.read(file, ssg.buffer(BLOCK)))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("has been replaced by another file");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1})
    void required_206_aFileKeepsItsExactLengthWhetherOrNotTheDriverLengthensIt(long grows) throws IOException {
        SsgFake.set("grows", grows);
        byte[] bytes = BackendFixture.random(1000, 7);
        Path path = SsgFixture.write("exact", BackendFixture.random(700, 8));
        byte[] expected = Arrays.copyOf(Files.readAllBytes(path), 1300);
        System.arraycopy(bytes, 0, expected, 300, 1000);
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            StorageFile file = ssg.file(path, FileOption.READ, FileOption.WRITE);
            ssg.run(Transfer.write(ssg.filled(bytes).all(), file.region(300, 1000)));
        }
        assertThat(Files.readAllBytes(path)).isEqualTo(expected);
    }

    @Test
    void required_201_aFileObjectIsKeptUntilTheLastEventIsTerminal() throws IOException {
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            StorageFile file = ssg.file("kept", new byte[BLOCK]);
            DeviceBuffer buffer = ssg.buffer(BLOCK);
            ssg.control.hold(SsgFixture.READ);
            var reading = ssg.backend()
                    .submit(Transfer.read(file.all(), buffer.all()))
                    .toFuture();
            assertThat(ssg.control.awaitHeld(SsgFixture.READ, 1)).isEqualTo(1);
            file.close();
            buffer.close();
            assertThat(ssg.control.live("files"))
                    .as("closed while the disk reads")
                    .isPositive();
            assertThat(reading).isNotDone();
            ssg.control.release(SsgFixture.READ);
            assertThat(reading.orTimeout(20, TimeUnit.SECONDS).join().bytes()).isEqualTo(BLOCK);
            assertThat(ssg.control.awaitLive("files", 0)).isZero();
        }
    }

    @Test
    void manyCommandsAreInFlightAtOnce() throws IOException {
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            StorageFile file = ssg.file("many", new byte[512 << 10]);
            ssg.control.hold(SsgFixture.READ);
            var reading = ssg.backend()
                    .submit(Transfer.read(file.all(), ssg.buffer(512 << 10).all()))
                    .toFuture();
            assertThat(ssg.control.awaitCalls(SsgFixture.READ, 8)).isEqualTo(8);
            ssg.control.release(SsgFixture.READ);
            assertThat(reading.orTimeout(20, TimeUnit.SECONDS).join().bytes()).isEqualTo(512 << 10);
        }
    }
}
