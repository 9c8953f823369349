// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.testing.FakeControl;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The way through pinned staging buffers, and what the driver may answer on it. */
@ExtendWith(FreshFakes.class)
class StagedPathTest {

    @TempDir
    Path folder;

    private Options options;
    private FakeControl cuda;
    private Backend backend;

    @BeforeEach
    void open() {
        options = CufileSubject.fakes().with(CufileOptions.PATH, CufilePath.STAGED);
        cuda = Fakes.cuda();
        backend = Backends.open("cufile", options);
    }

    @AfterEach
    void close() {
        backend.close();
        assertThat(cuda.awaitLive("contexts", 0)).as("contexts").isZero();
    }

    private byte[] bytes(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    private StorageFile file(byte[] content) throws IOException {
        Path path = Files.write(folder.resolve("file" + content.length), content);
        return Objects.requireNonNull(
                backend.openFile(path, FileOption.READ, FileOption.WRITE).block());
    }

    private DeviceBuffer buffer(long bytes) {
        return Objects.requireNonNull(backend.allocate(bytes).block());
    }

    private Completion move(Transfer transfer) {
        return Objects.requireNonNull(backend.submit(transfer).block());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 511, 4096, 4097, 4 << 20, (4 << 20) + 1, 9_000_001})
    void everySizeIsReadToTheGpuAndBack(int size) throws IOException {
        byte[] content = bytes(size);
        StorageFile from = file(content);
        DeviceBuffer buffer = buffer(size);
        Completion read = move(Transfer.read(from.all(), buffer.all()));
        assertThat(read.bytes()).isEqualTo(size);
        assertThat(read.path()).isEqualTo(TransferPath.STAGED);
        assertThat(read.evidence()).isEqualTo(Evidence.OBSERVED);
        assertThat(read.reason()).contains("penstock.cufile.path=staged");
        ByteBuffer seen = ByteBuffer.allocate(size);
        buffer.download(0, seen).block();
        assertThat(seen.array()).isEqualTo(content);

        Path out = folder.resolve("out");
        StorageFile to = Objects.requireNonNull(
                backend.openFile(out, FileOption.WRITE, FileOption.CREATE).block());
        assertThat(move(Transfer.write(buffer.all(), to.region(0, size))).bytes())
                .isEqualTo(size);
        assertThat(out).hasBinaryContent(content);
    }

    @Test
    void required_502_requireDirectIsRefusedWithTheReason() throws IOException {
        Transfer direct =
                Transfer.read(file(bytes(4096)).all(), buffer(4096).all()).requireDirect();
        assertThatThrownBy(() -> move(direct))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("no direct path, only [STAGED]")
                .hasMessageContaining("penstock.cufile.path=staged");
        assertThat(cuda.calls("cuMemcpyHtoDAsync")).isZero();
    }

    @Test
    void oneFillCopyAndPollMakeNoCallBeyondTheirOwn() throws IOException {
        Transfer read = Transfer.read(file(bytes(4096)).all(), buffer(4096).all());
        for (int i = 0; i < 20; i++) {
            move(read); // every staging worker has its context now, most likely
        }
        long copies = cuda.calls("cuMemcpyHtoDAsync");
        long records = cuda.calls("cuEventRecord");
        long made = made();
        for (int i = 0; i < 200; i++) {
            move(read);
        }
        assertThat(cuda.calls("cuMemcpyHtoDAsync") - copies).isEqualTo(200);
        assertThat(cuda.calls("cuEventRecord") - records).isEqualTo(200);
        assertThat(made()).as("calls that make something or change the context").isLessThanOrEqualTo(made + 8);
        assertThat(cuda.calls("cuLaunchHostFunc")).isZero();
    }

    @Test
    void allStagingBuffersAreCopiedByOneStreamPerDirection() throws IOException {
        StorageFile file = file(bytes(64 << 20));
        DeviceBuffer buffer = buffer(64 << 20);
        move(Transfer.read(file.all(), buffer.all()));
        assertThat(cuda.live("host_buffers")).as("staging buffers").isGreaterThan(2);
        assertThat(cuda.live("streams"))
                .as("and one for copies between buffers")
                .isEqualTo(3);
    }

    private long made() {
        return cuda.calls("cuCtxSetCurrent")
                + cuda.calls("cuCtxPushCurrent")
                + cuda.calls("cuEventCreate")
                + cuda.calls("cuStreamCreate")
                + cuda.calls("cuMemHostRegister");
    }

    @ParameterizedTest
    @CsvSource({
        "cuMemcpyHtoDAsync, 1, cuMemcpyHtoDAsync -> CUDA_ERROR_INVALID_VALUE (1)",
        "cuEventRecord, 400, cuEventRecord -> CUDA_ERROR_INVALID_HANDLE (400)",
        "cuEventQuery, 801, cuEventQuery -> CUDA_ERROR_NOT_SUPPORTED (801)"
    })
    void aCallThatFailsFailsItsTransferAndTheNextOneWorks(String call, int code, String answer) throws IOException {
        Transfer read = Transfer.read(file(bytes(4096)).all(), buffer(4096).all());
        cuda.fail(call, 1, code);
        assertThatThrownBy(() -> move(read))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageStartingWith("read of 4096 bytes at 0 of ")
                .hasMessageContaining("/file4096 failed: " + answer);
        assertThat(move(read).bytes()).isEqualTo(4096);
    }

    @Test
    void aDriverThatIsShortOfMemoryIsATransientError() throws IOException {
        Transfer read = Transfer.read(file(bytes(4096)).all(), buffer(4096).all());
        cuda.fail("cuMemcpyHtoDAsync", 1, Cuda.OUT_OF_MEMORY);
        assertThatThrownBy(() -> move(read)).isInstanceOf(TransientStorageException.class);
        assertThat(move(read).bytes()).isEqualTo(4096);
    }

    @ParameterizedTest
    @ValueSource(ints = {700, 719, 214, 709})
    void afterAStickyErrorEverythingIsLostAndTheCauseIsNamed(int code) throws IOException {
        Transfer read = Transfer.read(file(bytes(4096)).all(), buffer(4096).all());
        DeviceBuffer idle = buffer(16);
        cuda.fail("cuEventQuery", 0, code);
        assertThatThrownBy(() -> move(read))
                .isInstanceOf(DeviceLostException.class)
                .hasMessageContaining("cuEventQuery -> CUDA_ERROR_")
                .hasMessageContaining(Cuda.DRIVER.foreignCause(code));
        assertThatThrownBy(() -> move(read)).isInstanceOf(DeviceLostException.class);
        idle.revoked().block(Duration.ofSeconds(20));
        DeviceBuffer another = buffer(16);
        assertThatThrownBy(() -> another.upload(0, ByteBuffer.allocate(16)).block())
                .isInstanceOf(DeviceLostException.class);
        cuda.fail("cuEventQuery", -1, 0);
        // A context that is lost runs no copies any more. The fake's does: they end before their memory is freed.
        while (cuda.live("operations") != 0) {
            Thread.onSpinWait();
        }
        backend.close();
        backend = Backends.open("cufile", options);
        assertThat(move(Transfer.read(file(bytes(16)).all(), buffer(16).all())).bytes())
                .isEqualTo(16);
    }

    @Test
    void required_201_aBufferStaysUntilACopyThatHangsHasEndedAlsoAfterACancel() throws IOException {
        DeviceBuffer buffer = buffer(4096);
        long before = LiveObjects.count(GpuMemory.class);
        cuda.hold("cuMemcpyHtoDAsync");
        CompletableFuture<Completion> read = backend.submit(
                        Transfer.read(file(bytes(4096)).all(), buffer.all()))
                .toFuture();
        assertThat(cuda.awaitHeld("cuMemcpyHtoDAsync", 1)).isEqualTo(1);
        read.cancel(true);
        buffer.close();
        assertThat(LiveObjects.count(GpuMemory.class))
                .as("while the GPU may still write")
                .isEqualTo(before);
        cuda.release("cuMemcpyHtoDAsync");
        backend.close();
        assertThat(LiveObjects.count(GpuMemory.class)).isZero();
    }

    @Test
    void required_204_aCopyThatCannotBeQueriedIsWaitedForBeforeItsStagingBufferIsReleased() throws IOException {
        DeviceBuffer buffer = buffer(4096);
        cuda.hold("cuMemcpyHtoDAsync");
        cuda.fail("cuEventQuery", 1, 801);
        CompletableFuture<Completion> read = backend.submit(
                        Transfer.read(file(bytes(4096)).all(), buffer.all()))
                .toFuture();
        assertThat(cuda.awaitCalls("cuEventSynchronize", 1)).isEqualTo(1);
        assertThat(read).as("while the GPU still reads the staging buffer").isNotDone();
        cuda.release("cuMemcpyHtoDAsync");
        assertThatThrownBy(read::join).hasMessageContaining("cuEventQuery -> CUDA_ERROR_NOT_SUPPORTED (801)");
    }

    @Test
    void aGpuThatHangsDoesNotKeepAnotherFromWorking() throws IOException {
        cuda.set("device_count", 2);
        Path path = Files.write(folder.resolve("file"), bytes(64 << 10));
        try (Backend other = Backends.open("cufile", options.with(CufileOptions.DEVICE, 1))) {
            // More copies than there are staging workers and staging buffers to each, all behind one that does not end.
            cuda.hold("cuMemcpyHtoDAsync");
            StorageFile file = Objects.requireNonNull(
                    backend.openFile(path, FileOption.READ).block());
            DeviceBuffer buffer = buffer(64 << 10);
            for (int i = 0; i < 64; i++) {
                backend.submit(Transfer.read(file.region(i * 1024L, 1024), buffer.region(i * 1024L, 1024)))
                        .subscribe(done -> {}, error -> {});
            }
            assertThat(cuda.awaitHeld("cuMemcpyHtoDAsync", 1)).isEqualTo(1);
            // Two staging workers at least, with two staging buffers each.
            assertThat(cuda.awaitCalls("cuMemcpyHtoDAsync", 4)).isGreaterThanOrEqualTo(4);
            Long written = other.withFile(
                            folder.resolve("out"),
                            new FileOption[] {FileOption.WRITE, FileOption.CREATE},
                            out -> other.withBuffer(
                                    4096,
                                    memory -> other.submit(Transfer.write(memory.all(), out.region(0, 4096)))
                                            .map(Completion::bytes)))
                    .block();
            assertThat(written).isEqualTo(4096);
            cuda.release("cuMemcpyHtoDAsync");
        }
    }

    @Test
    void workersAreTheProcesssAndAnotherNumberIsRefusedWithBoth() {
        Options more = options.with(CufileOptions.DEVICE, 0).with(StagingOptions.WORKERS, 7);
        assertThatThrownBy(() -> Backends.open("cufile", more))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("penstock.staging.workers=7, but this process already has");
    }

    /** Buffers are counted by the workers that they would have with one each. */
    @ParameterizedTest
    @CsvSource({"1, '', 2, 4", "2, '', 3, 8", "1, penstock.staging.buffer-bytes=1MiB, 3, 16"})
    void theOnlyGpuHasTwoBuffersOf4MibForEachWorkerUnlessTheyAreSet(
            int gpus, String setting, int buffersEach, int segments) throws IOException {
        backend.close();
        cuda.set("device_count", gpus);
        backend = Backends.open("cufile", options.with(StagingOptions.BUFFERS_PER_WORKER, 1));
        move(Transfer.read(file(bytes(1)).all(), buffer(1).all()));
        int workers = backend.counters().stagingBuffers();
        backend.close();

        String[] option = setting.split("=");
        backend = Backends.open("cufile", setting.isEmpty() ? options : options.with(option[0], option[1]));
        Transfer read =
                Transfer.read(file(bytes(16 << 20)).all(), buffer(16 << 20).all());
        assertThat(backend.explain(read).segments()).isEqualTo(segments);
        move(read);
        assertThat(backend.counters().stagingBuffers()).isEqualTo(workers * buffersEach);
    }
}
