// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.FileOption;
import io.penstock.NativeError;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import io.penstock.backend.opencl.fakes.FreshSsg;
import io.penstock.backend.opencl.fakes.SsgFake;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each answer in the manual, and what the application gets; docs/vendors/opencl-ssg.md has them in a table. */
@ExtendWith(FreshSsg.class)
class SsgErrorsTest {

    private static final int BYTES = 4096;

    private SsgFixture ssg;
    private StorageFile file;
    private DeviceBuffer buffer;

    @BeforeEach
    void open() throws IOException {
        ssg = SsgFixture.open(SsgFixture.OPTIONS);
        file = ssg.file(SsgFixture.write("errors", BackendFixture.random(BYTES, 1)), FileOption.READ, FileOption.WRITE);
        buffer = ssg.filled(new byte[BYTES]);
    }

    @AfterEach
    void close() {
        ssg.close();
    }

    private Transfer transfer(String function) {
        return function.equals(SsgFixture.READ)
                ? Transfer.read(file.all(), buffer.all())
                : Transfer.write(buffer.all(), file.all());
    }

    private <T extends PenstockException> T failure(String function, Class<T> type) {
        Throwable[] thrown = new Throwable[1];
        assertThatThrownBy(() -> ssg.run(transfer(function))).satisfies(e -> thrown[0] = e);
        assertThat(thrown[0]).isInstanceOf(type);
        return type.cast(thrown[0]);
    }

    private <T extends PenstockException> void assertFails(String function, int code, Class<T> type) {
        ssg.control.fail(function, 1, code);
        T failure = failure(function, type);
        NativeError error = failure.nativeError().orElseThrow();
        assertThat(error.call()).isEqualTo(function);
        assertThat(error.code()).isEqualTo(code);
        assertThat(error.symbol()).isEqualTo(OpenClError.symbol(code));
        assertThat(failure).hasMessageContaining(function + " -> " + OpenClError.symbol(code) + " (" + code + ")");
        assertThat(ssg.run(transfer(function)).bytes()).as("the next transfer").isEqualTo(BYTES);
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                OpenClError.INVALID_FILE_OBJECT_AMD,
                OpenClError.INVALID_VALUE,
                OpenClError.INVALID_DEVICE,
                OpenClError.INVALID_CONTEXT
            })
    void aFileThatTheDriverDoesNotOpenIsStagedAndTheReasonReported(int code) throws IOException {
        ssg.control.fail("clCreateSsgFileObjectAMD", 0, code);
        StorageFile refused = ssg.file("refused", new byte[BYTES]);
        ssg.control.fail("clCreateSsgFileObjectAMD", -1, 0);
        Completion done = ssg.read(refused, buffer);
        assertThat(done.path()).isEqualTo(TransferPath.STAGED);
        Transfer direct = Transfer.read(refused.all(), buffer.all()).requireDirect();
        assertThatThrownBy(() -> ssg.run(direct))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("clCreateSsgFileObjectAMD -> " + OpenClError.symbol(code) + " (" + code + ")");
    }

    @Test
    void aFileThatMayOnlyBeReadIsStagedAndTheReasonReported() throws IOException {
        Path path = SsgFixture.write("read-only", BackendFixture.random(BYTES, 2));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("r--r--r--"));
        StorageFile refused = ssg.file(path, FileOption.READ);
        assertThat(ssg.read(refused, buffer).path()).isEqualTo(TransferPath.STAGED);
        assertThatThrownBy(
                        () -> ssg.run(Transfer.read(refused.all(), buffer.all()).requireDirect()))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("clCreateSsgFileObjectAMD -> CL_INVALID_VALUE (-30)")
                .hasMessageContaining("requires the rights to read and to write a file");
    }

    @Test
    void aQuestionAboutAFileObjectThatFailsIsARefusalOfTheFile() throws IOException {
        ssg.control.fail("clGetSsgFileObjectInfoAMD", 0, OpenClError.INVALID_FILE_OBJECT_AMD);
        StorageFile refused = ssg.file("refused", new byte[BYTES]);
        ssg.control.fail("clGetSsgFileObjectInfoAMD", -1, 0);
        assertThat(ssg.read(refused, buffer).path()).isEqualTo(TransferPath.STAGED);
        assertThatThrownBy(
                        () -> ssg.run(Transfer.read(refused.all(), buffer.all()).requireDirect()))
                .hasMessageContaining("clGetSsgFileObjectInfoAMD -> CL_INVALID_FILE_OBJECT_AMD (16516)");
    }

    @Test
    void aFileObjectThatCannotBeRetainedFailsTheTransfer() {
        ssg.control.fail("clRetainSsgFileObjectAMD", 1, OpenClError.INVALID_FILE_OBJECT_AMD);
        PermanentStorageException failure = failure(SsgFixture.READ, PermanentStorageException.class);
        assertThat(failure).hasMessageContaining("clRetainSsgFileObjectAMD -> CL_INVALID_FILE_OBJECT_AMD (16516)");
        assertThat(ssg.run(transfer(SsgFixture.READ)).bytes()).isEqualTo(BYTES);
    }

    @Test
    void aFileObjectThatCannotBeReleasedFailsNothing() {
        ssg.control.fail("clReleaseSsgFileObjectAMD", 1, OpenClError.INVALID_FILE_OBJECT_AMD);
        assertThat(ssg.run(transfer(SsgFixture.READ)).bytes()).isEqualTo(BYTES);
        file.close();
        assertThat(ssg.control.awaitLive("files", 1)).as("what the driver kept").isEqualTo(1);
        SsgFake.reset(); // the backend cannot release it any more
    }

    @ParameterizedTest
    @ValueSource(strings = {SsgFixture.READ, SsgFixture.WRITE})
    void aReleasedFileObjectIsAPermanentErrorDespiteItsPositiveCode(String function) {
        assertFails(function, OpenClError.INVALID_FILE_OBJECT_AMD, PermanentStorageException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {SsgFixture.READ, SsgFixture.WRITE})
    void anInvalidCommandQueueMeansALostDevice(String function) {
        assertFails(function, OpenClError.INVALID_COMMAND_QUEUE, DeviceLostException.class);
    }

    @Test
    void aDeviceThatIsGoneRevokesAllBuffers() {
        DeviceBuffer idle = ssg.buffer(BYTES);
        assertFails(SsgFixture.READ, OpenClError.DEVICE_NOT_AVAILABLE, DeviceLostException.class);
        idle.revoked().block(Duration.ofSeconds(20));
        buffer.revoked().block(Duration.ofSeconds(20));
    }

    @ParameterizedTest
    @ValueSource(strings = {SsgFixture.READ, SsgFixture.WRITE})
    void aContextMismatchMeansALostDevice(String function) {
        assertFails(function, OpenClError.INVALID_CONTEXT, DeviceLostException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {SsgFixture.READ, SsgFixture.WRITE})
    void aDeletedBufferIsAPermanentError(String function) {
        assertFails(function, OpenClError.INVALID_MEM_OBJECT, PermanentStorageException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {SsgFixture.READ, SsgFixture.WRITE})
    void aRegionThatTheDriverDoesNotLikeIsPermanent(String function) {
        assertFails(function, OpenClError.INVALID_VALUE, PermanentStorageException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {SsgFixture.READ, SsgFixture.WRITE})
    void aWaitListThatTheDriverDoesNotLikeIsPermanent(String function) {
        assertFails(function, OpenClError.INVALID_EVENT_WAIT_LIST, PermanentStorageException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {SsgFixture.READ, SsgFixture.WRITE})
    void memoryThatCannotBeHadIsTransient(String function) {
        assertFails(function, OpenClError.MEM_OBJECT_ALLOCATION_FAILURE, TransientStorageException.class);
    }

    @ParameterizedTest
    @CsvSource({
        SsgFixture.READ + ", -59",
        SsgFixture.WRITE + ", -59",
        SsgFixture.READ + ", -14",
        SsgFixture.WRITE + ", -14"
    })
    void aTransferThatFailsAfterItWasAcceptedIsSeenByItsEvent(String function, int status) {
        ssg.control.fail("late:" + function, 1, status);
        PermanentStorageException failure = failure(function, PermanentStorageException.class);
        assertThat(failure)
                .hasMessageContaining(function + " -> " + OpenClError.symbol(status) + " (" + status + ")")
                .hasMessageContaining("reported by its event");
        assertThat(ssg.run(transfer(function)).bytes()).isEqualTo(BYTES);
    }

    /** The answer is the question's, and not the command's, which the disk may still carry out. */
    @ParameterizedTest
    @ValueSource(strings = {SsgFixture.READ, SsgFixture.WRITE})
    void aCommandWhoseStateCannotBeAskedForEndsBeforeItsTransfer(String function) {
        ssg.control.hold(function);
        var moved = ssg.backend().submit(transfer(function)).toFuture();
        assertThat(ssg.control.awaitHeld(function, 1)).isEqualTo(1);
        long waits = ssg.control.calls("clWaitForEvents");
        ssg.control.fail("clGetEventInfo", 1, OpenClError.OUT_OF_HOST_MEMORY);
        long waited = ssg.control.awaitCalls("clWaitForEvents", waits + 1);
        boolean early = moved.isDone();
        ssg.control.release(function);
        assertThat(waited).as("nobody waits for the command").isGreaterThan(waits);
        assertThat(early).as("it has ended before its command").isFalse();
        assertThat(moved).succeedsWithin(SsgFixture.LONG);
        assertThat(moved.join().bytes()).isEqualTo(BYTES);
    }
}
