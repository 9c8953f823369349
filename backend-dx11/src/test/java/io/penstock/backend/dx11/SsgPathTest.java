// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.memory.TextureShape;
import io.penstock.backend.dx11.ssg.Dx11SsgFile;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.testing.BackendFixture;
import io.penstock.tck.Witness;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

/** How transfers go by AMD's interface: calls, regions, events, and what is kept while they are under way. */
@ExtendWith(SsgFake.class)
class SsgPathTest {

    private static final int BLOCK = SsgFake.BLOCK;

    @TempDir
    Path folder;

    private SsgBench open(int layout) {
        return new SsgBench(folder, SsgFake.options(layout).with(Dx11Options.SSG_REGION_BYTES, 4L * BLOCK));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void wholeBlocksAreOneCallWithSeveralRegionsAndItsOwnEvent(int layout) throws IOException {
        SsgFake.reset(layout);
        byte[] bytes = BackendFixture.random(64 * BLOCK, layout);
        try (SsgBench ssg = open(layout)) {
            StorageFile file = ssg.file("regions", bytes);
            DeviceBuffer buffer = ssg.buffer(bytes.length);
            Completion done = ssg.run(Transfer.read(file.all(), buffer.all()));
            assertThat(done.path()).isEqualTo(TransferPath.DIRECT);
            assertThat(done.evidence()).isEqualTo(Evidence.INFERRED);
            assertThat(done.reason()).contains("counts are computed");
            assertThat(SsgFake.calls(SsgFake.READ)).isEqualTo(1);
            assertThat(SsgFake.mostRegions()).isEqualTo(16);
            assertThat(SsgFake.calls("CreateEvent")).isEqualTo(1);
            assertThat(SsgFake.calls("WaitEvent")).isEqualTo(1);
            assertThat(SsgFake.calls("DestroyEvent")).isEqualTo(1);
            assertThat(BackendFixture.content(buffer)).isEqualTo(bytes);
            assertThat(ssg.backend().capabilities().features())
                    .contains("SSG: IAmdDxExtSSG 1.7, liquid flash build 20170801");
        }
    }

    @Test
    void pairsOfOneFileAndOneBufferGoInOneCall() throws IOException {
        byte[] bytes = BackendFixture.random(64 * BLOCK, 3);
        try (SsgBench ssg = open(1)) {
            StorageFile file = ssg.file("pairs", bytes);
            DeviceBuffer buffer = ssg.buffer(bytes.length);
            ssg.run(Transfer.gather(
                    file, new long[] {40L * BLOCK, 0, 8L * BLOCK, 20L * BLOCK}, BLOCK, buffer.region(0, 4 * BLOCK)));
            assertThat(SsgFake.calls(SsgFake.READ)).isEqualTo(1);
            assertThat(SsgFake.mostRegions()).isEqualTo(4);
        }
    }

    @Test
    void edgesGoByStagingBuffersOnTheDeviceAndTheRestByAlignedCalls() throws IOException {
        byte[] bytes = BackendFixture.random(20 * BLOCK, 4);
        try (SsgBench ssg = open(1)) {
            StorageFile file = ssg.file("edges", bytes);
            DeviceBuffer buffer = ssg.buffer(bytes.length);
            Transfer inside = Transfer.read(file.region(100, 16 * BLOCK), buffer.region(100, 16 * BLOCK));
            assertThat(ssg.run(inside).bytes()).isEqualTo(16 * BLOCK);
            assertThat(SsgFake.calls(SsgFake.READ)).as("head, body, tail").isEqualTo(3);
            assertThat(Arrays.copyOfRange(BackendFixture.content(buffer), 100, 100 + 16 * BLOCK))
                    .isEqualTo(Arrays.copyOfRange(bytes, 100, 100 + 16 * BLOCK));
        }
    }

    @Test
    void required_206_aFileKeepsItsExactLengthAndTheBytesBesideARegion() throws IOException {
        byte[] before = BackendFixture.random(700, 5);
        byte[] bytes = BackendFixture.random(3 * BLOCK, 6);
        byte[] expected = Arrays.copyOf(before, 300 + bytes.length);
        System.arraycopy(bytes, 0, expected, 300, bytes.length);
        try (SsgBench ssg = open(1)) {
            StorageFile file = ssg.file("exact", before);
            ssg.run(Transfer.write(ssg.filled(bytes).all(), file.region(300, bytes.length)));
            assertThat(Files.readAllBytes(folder.resolve("exact"))).isEqualTo(expected);
            assertThat(SsgFake.calls(SsgFake.WRITE)).isPositive();
        }
    }

    @Test
    void bytesWrittenBeyondTheEndAreReadThoughHandlesKeepTheOldSize() throws IOException {
        byte[] bytes = BackendFixture.random(5000, 7);
        try (SsgBench ssg = open(1)) {
            StorageFile file = ssg.file("grows", new byte[10]);
            ssg.run(Transfer.write(ssg.filled(bytes).all(), file.region(2000, 5000)));
            DeviceBuffer to = ssg.buffer(5000);
            assertThat(ssg.run(Transfer.read(file.region(2000, 5000), to.all())).bytes())
                    .isEqualTo(5000);
            assertThat(BackendFixture.content(to)).isEqualTo(bytes);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "M\u00fcller & S\u00f6hne", "\u5927\u304d\u3044", "\uD83D\uDCBE 4096"})
    void namesMayHaveAnyCharacters(String name) throws IOException {
        byte[] bytes = BackendFixture.random(BLOCK, 8);
        try (SsgBench ssg = open(1)) {
            DeviceBuffer buffer = ssg.buffer(BLOCK);
            Completion done = ssg.run(Transfer.read(ssg.file(name, bytes).all(), buffer.all()));
            assertThat(done.path()).isEqualTo(TransferPath.DIRECT);
            assertThat(BackendFixture.content(buffer)).isEqualTo(bytes);
        }
    }

    /** The staging buffer that the edge goes by has been another edge's. */
    @Test
    void required_206_betweenTheEndOfAFileAndWhatIsWrittenBehindItAreZeros() throws IOException {
        byte[] bytes = BackendFixture.random(BLOCK, 10);
        try (SsgBench ssg = open(1)) {
            StorageFile file = ssg.file("gap", new byte[2 * BLOCK]);
            DeviceBuffer buffer = ssg.filled(bytes);
            ssg.run(Transfer.write(buffer.region(0, 1000), file.region(BLOCK + 100, 1000)));
            ssg.run(Transfer.write(buffer.region(0, 500), file.region(2 * BLOCK + 2000, 500)));
        }
        byte[] expected = new byte[2 * BLOCK + 2500];
        System.arraycopy(bytes, 0, expected, BLOCK + 100, 1000);
        System.arraycopy(bytes, 0, expected, 2 * BLOCK + 2000, 500);
        assertThat(Files.readAllBytes(folder.resolve("gap"))).isEqualTo(expected);
    }

    @Test
    void texturesAreFilledThroughStagingBuffersAndTheReasonIsReported() throws IOException {
        ImageRegion.Texels size = new ImageRegion.Texels(64, 64, 1);
        ImageRegion.Layout rows = new ImageRegion.Layout(Texture.R8_UNORM, 1, 64, BLOCK);
        byte[] bytes = BackendFixture.random(BLOCK, 9);
        long device = Long.decode(Dx11s.sharedDevice());
        try (SsgBench ssg = open(1);
                Texture texture = Texture.of(device, TextureShape.Kind.TWO, size, 1, Texture.R8_UNORM)) {
            Transfer read = Transfer.read(
                    ssg.file("texels", bytes).all(),
                    new ImageRegion(texture.handle(), 0, new ImageRegion.Texels(0, 0, 0), size, rows));
            assertThat(ssg.backend().explain(read).whyNotDirect()).contains("not into textures");
            assertThat(ssg.run(read).path()).isEqualTo(TransferPath.STAGED);
            assertThat(texture.texels(0)).isEqualTo(bytes);
        }
    }

    @Test
    void asManyCallsAsWaitersAreInFlight() throws IOException {
        SsgFake.hold(true);
        try (SsgBench ssg = new SsgBench(folder, SsgFake.options(1).with(Dx11Options.SSG_WAITERS, 3))) {
            StorageFile file = ssg.file("many", new byte[BLOCK]);
            var reads = Flux.range(0, 10)
                    .flatMap(
                            i -> ssg.backend()
                                    .submit(Transfer.read(
                                            file.all(), ssg.buffer(BLOCK).all())),
                            10)
                    .count()
                    .toFuture();
            while (SsgFake.calls(SsgFake.READ) < 3) {
                Thread.onSpinWait();
            }
            assertThat(reads).isNotDone();
            SsgFake.hold(false);
            assertThat(join(reads)).isEqualTo(10);
            assertThat(SsgFake.mostInFlight()).isEqualTo(3);
        }
    }

    private static <T> T join(CompletableFuture<T> future) {
        return future.orTimeout(30, TimeUnit.SECONDS).join();
    }

    @Test
    void required_201_fileAndBufferAreKeptUntilTheirEventWasWaitedFor() throws IOException {
        try (SsgBench ssg = open(1)) {
            StorageFile file = ssg.file("kept", new byte[BLOCK]);
            DeviceBuffer buffer = ssg.buffer(BLOCK);
            SsgFake.hold(true);
            Witness<Completion> reading = Witness.of(ssg.backend().submit(Transfer.read(file.all(), buffer.all())));
            while (SsgFake.calls(SsgFake.READ) < 1) {
                Thread.onSpinWait();
            }
            file.close();
            buffer.close();
            assertThat(SsgFake.calls("ReleaseFile"))
                    .as("released while the disk reads")
                    .isZero();
            assertThat(reading.hasEnded()).isFalse();
            SsgFake.hold(false);
            assertThat(reading.value().bytes()).isEqualTo(BLOCK);
        }
    }

    @Test
    void aBufferInFlightIsOutOfThePipeline() throws IOException {
        byte[] bytes = BackendFixture.random(2 * BLOCK, 9);
        try (SsgBench ssg = open(1)) {
            StorageFile file = ssg.file("turns", bytes);
            DeviceBuffer buffer = ssg.buffer(2 * BLOCK);
            SsgFake.hold(true);
            Witness<Completion> reading =
                    Witness.of(ssg.backend().submit(Transfer.read(file.region(0, BLOCK), buffer.region(0, BLOCK))));
            while (SsgFake.calls(SsgFake.READ) < 1) {
                Thread.onSpinWait();
            }
            ByteBuffer upload = ByteBuffer.wrap(Arrays.copyOfRange(bytes, BLOCK, 2 * BLOCK));
            var uploading = buffer.upload(BLOCK, upload).toFuture();
            SsgFake.hold(false);
            assertThat(join(uploading)).isEqualTo(BLOCK);
            assertThat(reading.value().bytes()).isEqualTo(BLOCK);
            assertThat(BackendFixture.content(buffer)).isEqualTo(bytes);
            // The fake complains of a copy of the buffer while it is in flight.
        }
    }

    @Test
    void buffersOfOtherUsagesGoByStagingBuffers() throws IOException {
        long device = Long.decode(Dx11s.sharedDevice());
        long dynamic = Dx11s.buffer(device, BLOCK, D3d11.USAGE_DYNAMIC);
        try (SsgBench ssg = open(1);
                DeviceBuffer buffer = ssg.backend().wrap(dynamic, BLOCK)) {
            StorageFile file = ssg.file("dynamic", new byte[BLOCK]);
            Transfer read = Transfer.read(file.all(), buffer.all());
            assertThat(ssg.run(read).path()).isEqualTo(TransferPath.STAGED);
            assertThatThrownBy(() -> ssg.run(read.requireDirect())).hasMessageContaining("not of usage DEFAULT");
        }
        Com.Release(dynamic);
    }

    @Test
    void aWaitThatFailsLosesTheDeviceAndKeepsFileAndBufferForGood() throws IOException {
        try (SsgBench ssg = open(1)) {
            StorageFile file = ssg.file("unknown", new byte[BLOCK]);
            SsgFake.answer("WaitEvent", Hresult.E_INVALIDARG, 1);
            assertThatThrownBy(() ->
                            ssg.run(Transfer.read(file.all(), ssg.buffer(BLOCK).all())))
                    .isInstanceOf(DeviceLostException.class)
                    .hasMessageContaining("IAmdDxExtSSG::WaitEvent -> E_INVALIDARG (0x80070057)")
                    .hasMessageContaining("never released");
            file.close();
        }
        assertThat(SsgFake.calls("ReleaseFile")).as("of two handles").isEqualTo(1);
        SsgFake.reset(1); // what is kept for good is not counted any more
        LiveObjects.remove(Dx11SsgFile.class);
        LiveObjects.remove(Dx11Device.class);
    }

    @Test
    void aFileThatIsReadOnlyIsOpenedForReadingOnly() throws IOException {
        Path path = Files.write(folder.resolve("reads"), new byte[BLOCK]);
        try (SsgBench ssg = open(1)) {
            StorageFile file = ssg.backend().openFile(path, FileOption.READ).block(SsgBench.PATIENCE);
            assertThat(SsgFake.calls("CreateFile")).isEqualTo(1);
            assertThat(ssg.run(Transfer.read(file.all(), ssg.buffer(BLOCK).all()))
                            .path())
                    .isEqualTo(TransferPath.DIRECT);
        }
    }
}
