// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.FileOption;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import io.penstock.backend.gl.fakes.FreshSsg;
import io.penstock.backend.gl.fakes.SsgFake;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.testing.FakeControl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** Each error in the manual, and what the application gets; docs/vendors/gl.md has them in a table. */
@ExtendWith(FreshSsg.class)
class SsgErrorsTest {

    private static final int BYTES = 4096;
    private static final String READ = "glReadFileAMD";
    private static final String WRITE = "glWriteFileAMD";

    @TempDir
    Path folder;

    private final FakeControl control = SsgFake.control();
    private GlFixture fixture;
    private Backend backend;
    private StorageFile file;
    private DeviceBuffer buffer;

    @BeforeEach
    void open() {
        fixture = new GlFixture(folder);
        backend = fixture.keep(SsgSubject.opened(SsgSubject.said()));
        Path path = fixture.file("errors", GlFixture.random(BYTES, 1));
        file = fixture.keep(GlFixture.get(backend.openFile(path, FileOption.READ, FileOption.WRITE)));
        buffer = fixture.buffer(backend, BYTES);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private Transfer transfer(String function) {
        return function.equals(READ)
                ? Transfer.read(file.all(), buffer.all())
                : Transfer.write(buffer.all(), file.all());
    }

    private void assertFails(String function, int code, Class<? extends PenstockException> type) {
        control.fail(function, 0, code);
        assertThatThrownBy(() -> GlFixture.move(backend, transfer(function)))
                .isInstanceOf(type)
                .hasMessageContaining(function + " -> " + GlError.symbol(code) + " (" + code + ")");
        control.fail(function, -1, 0);
        assertThat(GlFixture.move(backend, transfer(function)).bytes())
                .as("the next transfer")
                .isEqualTo(BYTES);
    }

    private void assertRefused(StorageFile refused, String answer) {
        Completion done = GlFixture.move(backend, Transfer.read(refused.all(), buffer.all()));
        assertThat(done.path()).isEqualTo(TransferPath.STAGED);
        Transfer direct = Transfer.read(refused.all(), buffer.all()).requireDirect();
        assertThatThrownBy(() -> GlFixture.move(backend, direct))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining(answer);
    }

    @Test
    void aFileThatTheDriverDoesNotOpenIsStagedAndTheReasonReported() {
        control.fail("glCreateFileAMD", 0, 0);
        StorageFile refused = fixture.open(backend, "refused", new byte[BYTES]);
        assertRefused(refused, "glCreateFileAMD -> NULL");
    }

    @Test
    void aFileThatMayOnlyBeReadIsStagedAndTheReasonReported() throws IOException {
        Path path = fixture.file("read-only", new byte[BYTES]);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("r--r--r--"));
        StorageFile refused = fixture.keep(GlFixture.get(backend.openFile(path, FileOption.READ)));
        assertRefused(refused, "glCreateFileAMD -> NULL; AMD's manual requires the rights to read and to write a file");
    }

    @ParameterizedTest
    @CsvSource({"0x0501, GL_INVALID_VALUE", "0x0500, GL_INVALID_ENUM"})
    void aQuestionAboutAFileThatFailsIsARefusalOfTheFile(int code, String symbol) {
        control.fail("glGetFileParameteri64vAMD", 0, code);
        StorageFile refused = fixture.open(backend, "refused", new byte[BYTES]);
        control.fail("glGetFileParameteri64vAMD", -1, 0);
        assertRefused(refused, "glGetFileParameteri64vAMD -> " + symbol);
    }

    @Test
    void aFileThatCannotBeReleasedFailsNothing() {
        control.fail("glReleaseFileAMD", 0, GlError.INVALID_OPERATION);
        StorageFile more = fixture.open(backend, "more", new byte[BYTES]);
        assertThat(GlFixture.move(backend, Transfer.read(more.all(), buffer.all()))
                        .bytes())
                .isEqualTo(BYTES);
        more.close();
        assertThat(control.awaitCalls("glReleaseFileAMD", 1)).isPositive();
        assertThat(GlFixture.move(backend, transfer(READ)).bytes()).isEqualTo(BYTES);
    }

    @ParameterizedTest
    @ValueSource(strings = {READ, WRITE})
    void invalidArgumentsAreAPermanentError(String function) {
        assertFails(function, GlError.INVALID_VALUE, PermanentStorageException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {READ, WRITE})
    void noAccessToTheFileIsPermanent(String function) {
        assertFails(function, GlError.INVALID_OPERATION, PermanentStorageException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {READ, WRITE})
    void memoryThatCannotBeHadIsTransient(String function) {
        assertFails(function, GlError.OUT_OF_MEMORY, TransientStorageException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {READ, WRITE})
    void aContextThatIsLostIsReportedByTheCall(String function) {
        assertFails(function, GlError.CONTEXT_LOST, DeviceLostException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {READ, WRITE})
    void aSyncThatIsRefusedIsDoneWithout(String function) {
        control.set("sync", 3);
        assertThat(GlFixture.move(backend, transfer(function)).bytes()).isEqualTo(BYTES);
        long calls = control.calls(function);
        assertThat(GlFixture.move(backend, transfer(function)).bytes()).isEqualTo(BYTES);
        assertThat(control.calls(function) - calls)
                .as("the driver is not asked again")
                .isEqualTo(1);
    }

    @Test
    void aBufferThatTheApplicationDeletesFailsTheNextTransfer() {
        Application application = new Application();
        Backend shared = fixture.keep(SsgSubject.sharing(application, SsgSubject.said()));
        int name = application.visibleBuffer(BYTES);
        try (DeviceBuffer wrapped = shared.wrap(name, BYTES);
                StorageFile data = GlFixture.get(shared.openFile(folder.resolve("errors"), FileOption.READ))) {
            Transfer read = Transfer.read(data.all(), wrapped.all());
            assertThat(GlFixture.move(shared, read).path()).isEqualTo(TransferPath.DIRECT);
            application.delete(name);
            assertThatThrownBy(() -> GlFixture.move(shared, read))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("glReadFileAMD -> GL_INVALID_VALUE");
        }
        application.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {READ, WRITE})
    void aTransferThatFailsOnceStartedIsNotReported(String function) {
        // The manual has no word for it: what this documents is why completions say that counts are computed.
        control.fail("late:" + function, 1, 0);
        Completion done = GlFixture.move(backend, transfer(function));
        assertThat(done.bytes()).isEqualTo(BYTES);
        assertThat(done.reason()).contains("nor an error of a transfer that has started");
    }

    /**
     * The answer is the question's: the transfers may run on, and their memory must not be reused before they have
     * ended.
     */
    @ParameterizedTest
    @ValueSource(strings = {READ, WRITE})
    void aWaitThatFailsFailsTheTransferOnceTheDriverHasEndedIt(String function) {
        control.hold(function);
        AtomicLong running = new AtomicLong(-1);
        Mono<Completion> move = backend.submit(transfer(function))
                .doOnTerminate(() -> running.set(control.held(function)))
                .cache();
        CompletableFuture<Completion> ended = move.toFuture();
        assertThat(control.awaitHeld(function, 1)).isEqualTo(1);
        long finishes = control.calls("glFinish");
        control.fail("glClientWaitSync", 1, Gl.GL_WAIT_FAILED, GlError.INVALID_VALUE);
        GlFixture.await(() -> ended.isDone() || control.calls("glFinish") > finishes);
        control.release(function);
        assertThatThrownBy(() -> move.block(GlFixture.LONG))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("glClientWaitSync -> GL_INVALID_VALUE (1281)");
        assertThat(running).as("operations that ran at the end").hasValue(0);
        assertThat(GlFixture.move(backend, transfer(function)).bytes()).isEqualTo(BYTES);
    }

    /** A driver need not start what is not flushed. */
    @Test
    void syncsOfTransfersAreFlushed() {
        CompletableFuture<Completion> ended = backend.submit(transfer(READ)).toFuture();
        try {
            assertThat(ended).succeedsWithin(GlFixture.LONG);
        } finally {
            control.set("flush", 0); // so that the fixture can be closed
        }
    }

    @Test
    void aContextThatIsLostEndsTransfersThatRun() {
        control.hold(READ);
        long looks = control.calls("glClientWaitSync");
        Mono<Completion> read = backend.submit(transfer(READ)).cache();
        read.subscribe(done -> {}, failed -> {});
        assertThat(control.awaitHeld(READ, 1)).isEqualTo(1);
        // Not before the call has been asked for its error, which would be the error of the context.
        GlFixture.await(() -> control.calls("glClientWaitSync") > looks);
        control.set("reset_status", GlError.UNKNOWN_CONTEXT_RESET);
        assertThatThrownBy(() -> read.block(GlFixture.LONG))
                .isInstanceOf(DeviceLostException.class)
                .hasMessageContaining("GL_UNKNOWN_CONTEXT_RESET");
        control.release(READ);
        control.set("reset_status", 0);
    }
}
