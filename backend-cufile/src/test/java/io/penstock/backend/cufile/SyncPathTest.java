// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.Evidence;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** cuFileRead and cuFileWrite, and what they may answer. */
@ExtendWith(FreshFakes.class)
class SyncPathTest {

    private static final String READ = "cuFileRead";
    private static final String WRITE = "cuFileWrite";

    private CuFileBench bench;

    @BeforeEach
    void open() throws IOException {
        bench = CuFileBench.open(CufilePath.SYNC);
    }

    @AfterEach
    void close() throws IOException {
        bench.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4095, 4096, 100_000, (4 << 20) + 1})
    void everySizeIsReadToTheGpuAndBack(int size) throws IOException {
        byte[] content = CuFileBench.bytes(size);
        StorageFile from = bench.file(content);
        DeviceBuffer buffer = bench.buffer(size);
        Completion read = bench.move(Transfer.read(from.all(), buffer.all()));
        assertThat(read.bytes()).isEqualTo(size);
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
        StorageFile to = bench.writable(new byte[0]);
        assertThat(bench.move(Transfer.write(buffer.all(), to.region(0, size))).bytes())
                .isEqualTo(size);
        assertThat(to.path()).hasBinaryContent(content);
        assertThat(bench.cufile.calls(READ)).isPositive();
    }

    @Test
    void required_502_inPosixModeThePathIsCompatAndTheReasonIsReported() throws IOException {
        StorageFile file = bench.file(CuFileBench.bytes(4096));
        Completion read =
                bench.move(Transfer.read(file.all(), bench.buffer(4096).all()));
        assertThat(read.path()).isEqualTo(TransferPath.COMPAT);
        assertThat(read.evidence())
                .as("there is no other way it could have gone")
                .isEqualTo(Evidence.OBSERVED);
        assertThat(read.reason()).contains("POSIX mode", "nvidia-fs is not loaded");
        assertThatThrownBy(() -> bench.move(
                        Transfer.read(file.all(), bench.buffer(4096).all()).requireDirect()))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("nvidia-fs is not loaded");
        assertThat(bench.cufile.calls(READ)).as("the refused one made no call").isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shortCountsAreContinuedAndTheEndOfTheFileIsSeen(boolean ofWholeBlocks) throws IOException {
        byte[] content = CuFileBench.bytes(50_000);
        StorageFile file = ofWholeBlocks ? bench.writable(content) : bench.file(content);
        bench.cufile.shorten(READ, 7000);
        bench.cufile.shorten(WRITE, 7000);
        DeviceBuffer buffer = bench.buffer(60_000);
        assertThat(bench.move(Transfer.read(file.region(0, 60_000), buffer.all()))
                        .bytes())
                .isEqualTo(50_000);
        assertThat(BackendFixture.content(buffer)).startsWith(content);
        StorageFile to = bench.writable(new byte[0]);
        bench.move(Transfer.write(buffer.region(0, 50_000), to.region(0, 50_000)));
        assertThat(to.path()).hasBinaryContent(content);
    }

    @ParameterizedTest
    @CsvSource({
        "-1, 5, cuFileRead -> EIO (5)",
        "-1, 28, cuFileRead -> ENOSPC (28)",
        "-5022, 0, cuFileRead -> CU_FILE_INVALID_VALUE (5022)",
        "-5030, 0, cuFileRead -> CU_FILE_INTERNAL_ERROR (5030)",
        "-5011, 0, cuFileRead -> CU_FILE_CUDA_DRIVER_ERROR (5011)"
    })
    void required_401_aFailureNamesCallCodeAndSymbolAndTheNextTransferWorks(long answer, long errno, String said)
            throws IOException {
        StorageFile file = bench.file(CuFileBench.bytes(4096));
        Transfer read = Transfer.read(file.all(), bench.buffer(4096).all());
        bench.cufile.fail(READ, 1, answer, errno);
        assertThatThrownBy(() -> bench.move(read))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageStartingWith("read of 4096 bytes at 0 of ")
                .hasMessageContaining("/file0 failed: " + said);
        assertThat(bench.move(read).bytes()).isEqualTo(4096);
    }

    @Test
    void errorsAreSortedByWhatTheCallerCanDo() throws IOException {
        StorageFile file = bench.file(CuFileBench.bytes(4096));
        Transfer read = Transfer.read(file.all(), bench.buffer(4096).all());
        bench.cufile.fail(READ, 1, -5043, 0);
        assertThatThrownBy(() -> bench.move(read)).isInstanceOf(TransientStorageException.class);
        bench.cufile.fail(READ, 1, -5006, 0);
        assertThatThrownBy(() -> bench.move(read)).isInstanceOf(DeviceLostException.class);
        bench.cufile.fail(READ, 1, -1, 4); // EINTR
        assertThat(bench.move(read).bytes()).isEqualTo(4096);
    }

    @Test
    void aCopyOfAnEdgeWithoutAResultFailsItsWriteAndTheNextOneWorks() throws IOException {
        byte[] content = CuFileBench.bytes(3 * 4096);
        DeviceBuffer buffer = bench.buffer(content);
        StorageFile file = bench.writable(new byte[content.length]);
        Transfer write = Transfer.write(buffer.region(1, 8192), file.region(1, 8192));
        bench.cuda.fail("cuEventRecord", 1, 400);
        assertThatThrownBy(() -> bench.move(write))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("CUDA_ERROR_INVALID_HANDLE (400)");
        assertThat(bench.move(write).bytes()).isEqualTo(8192);
        assertThat(Files.readAllBytes(file.path())).containsSequence(Arrays.copyOfRange(content, 1, 8193));
    }

    @Test
    void required_502_aFileThatCuFileRefusesInTheMiddleGoesByAnotherPathFromThenOn() throws IOException {
        byte[] content = CuFileBench.bytes(4096);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(4096);
        Transfer read = Transfer.read(file.all(), buffer.all());
        bench.cufile.fail(READ, 0, -5008, 0);
        assertThatThrownBy(() -> bench.move(read))
                .isInstanceOf(PenstockException.class)
                .hasMessageContaining("CU_FILE_IO_NOT_SUPPORTED (5008)");
        assertThat(bench.move(read).path()).isEqualTo(TransferPath.STAGED);
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
    }

    @ParameterizedTest
    @ValueSource(ints = {5027, 5030, 5008})
    void required_502_aFileThatCannotBeRegisteredUsesStagingBuffers(int refusal) throws IOException {
        bench.cufile.fail("cuFileHandleRegister", 0, refusal);
        byte[] content = CuFileBench.bytes(10_000);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(10_000);
        Transfer read = Transfer.read(file.all(), buffer.all());
        assertThat(bench.backend().explain(read).path()).isEqualTo(TransferPath.STAGED);
        assertThat(bench.backend().explain(read).whyNotDirect()).isNotEmpty();
        Completion done = bench.move(read);
        assertThat(done.path()).isEqualTo(TransferPath.STAGED);
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
        assertThat(bench.cufile.calls(READ)).isZero();
    }

    @Test
    void required_502_aContainerWithoutUdevUsesStagingBuffers() throws IOException {
        bench.cufile.set("udev", 0);
        StorageFile file = bench.file(CuFileBench.bytes(4096));
        assertThat(bench.move(Transfer.read(file.all(), bench.buffer(4096).all()))
                        .path())
                .isEqualTo(TransferPath.STAGED);
    }

    @Test
    void cancellingTakesBackWhatNoThreadHasBegunAndWaitsForTheRest() throws IOException {
        StorageFile file = bench.file(CuFileBench.bytes(1 << 20));
        DeviceBuffer buffer = bench.buffer(1 << 20);
        bench.cufile.hold(READ);
        var subscription =
                bench.backend().submit(Transfer.read(file.all(), buffer.all())).subscribe();
        assertThat(bench.cufile.awaitHeld(READ, 1)).isPositive();
        subscription.dispose();
        buffer.close();
        // Behind the cancel in the queue. The memory's block stays allocated for other buffers, so it shows nothing.
        StorageFile other = bench.writable(new byte[4096]);
        bench.move(Transfer.write(bench.buffer(4096).all(), other.all()));
        assertThat(bench.backend().counters().buffers())
                .as("with the one that cuFile may still write")
                .isEqualTo(2);
        bench.cufile.release(READ);
        BackendFixture.await(() -> bench.backend().counters().buffers() == 1);
    }
}
