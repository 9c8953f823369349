// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.penstock.BackendUnavailableException;
import io.penstock.DeviceBuffer;
import io.penstock.NativeError;
import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.spi.staging.StagingOptions;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each answer in the manual, and what the application gets; docs/vendors/dx11.md has them in a table. */
@ExtendWith(SsgFake.class)
class SsgErrorsTest {

    private static final int BYTES = 2 * SsgFake.BLOCK;
    private static final String E_HANDLE = "E_HANDLE";

    @TempDir
    Path folder;

    private static int number(String symbol) {
        return switch (symbol) {
            case E_HANDLE -> 0x80070006;
            case "E_INVALIDARG" -> Hresult.E_INVALIDARG;
            default -> Hresult.E_FAIL;
        };
    }

    private static Options options(boolean asynchronous) {
        return SsgFake.options(1).with(Dx11Options.SSG_ASYNCHRONOUS, asynchronous);
    }

    @ParameterizedTest
    @CsvSource({
        "AmdDxExtCreate11, E_FAIL, AmdDxExtCreate11 -> E_FAIL (0x80004005)",
        "GetExtInterface, E_FAIL, IAmdDxExt::GetExtInterface -> NULL",
        "GetExtensionVersion, E_INVALIDARG, IAmdDxExtSSG::GetExtensionVersion -> E_INVALIDARG (0x80070057)"
    })
    void aDriverWithoutTheInterfaceHasNoSsgAndTheReasonIsReported(String function, String answer, String said) {
        SsgFake.answer(function, number(answer), 2);
        assertThatThrownBy(() -> new SsgBench(folder, options(true)))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("penstock.dx11.path=ssg, but ")
                .hasMessageContaining(said);
        try (SsgBench staged = new SsgBench(folder, options(true).with(Dx11Options.PATH, Dx11Path.AUTO))) {
            assertThat(staged.backend().capabilities().paths()).containsExactly(TransferPath.STAGED);
            assertThat(staged.backend().capabilities().features()).anyMatch(fact -> fact.contains(said));
        }
    }

    @Test
    void aDriverThatGivesNoExtensionAndNoErrorIsNoSsg() {
        SsgFake.answer("AmdDxExtCreate11", Hresult.S_FALSE, 1);
        assertThatThrownBy(() -> new SsgBench(folder, options(true)))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("AmdDxExtCreate11 returned no extension for this device");
    }

    /** {@link SsgFake} sees what is left. */
    @Test
    void aBackendWhoseOptionsAreRefusedReleasesTheInterface() {
        assertThatThrownBy(() -> new SsgBench(folder, options(true).with(StagingOptions.BUFFER_BYTES, 5000L)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must be a multiple of 4096");
    }

    @ParameterizedTest
    @CsvSource({"CreateFile, E_FAIL", "GetFileInfo, E_HANDLE"})
    void aFileThatTheDriverDoesNotOpenIsStagedAndTheReasonReported(String function, String answer) throws IOException {
        try (SsgBench ssg = new SsgBench(folder, options(true))) {
            SsgFake.answer(function, number(answer), 1);
            StorageFile file = ssg.file("refused", new byte[BYTES]);
            DeviceBuffer buffer = ssg.buffer(BYTES);
            assertThat(ssg.run(Transfer.read(file.all(), buffer.all())).path()).isEqualTo(TransferPath.STAGED);
            assertThatThrownBy(() ->
                            ssg.run(Transfer.read(file.all(), buffer.all()).requireDirect()))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("IAmdDxExtSSG::" + function + " -> " + answer);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {E_HANDLE, "E_INVALIDARG"})
    void aFileThatIsNotReleasedFailsNothing(String answer) throws IOException {
        try (SsgBench ssg = new SsgBench(folder, options(true))) {
            StorageFile file = ssg.file("kept", new byte[BYTES]);
            SsgFake.answer("ReleaseFile", number(answer), 2);
            assertThat(ssg.run(Transfer.read(file.all(), ssg.buffer(BYTES).all()))
                            .bytes())
                    .isEqualTo(BYTES);
            file.close();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "ReadBufferFromFile, E_HANDLE, true",
        "ReadBufferFromFile, E_INVALIDARG, true",
        "ReadBufferFromFile, E_FAIL, true",
        "ReadBufferFromFile, E_FAIL, false",
        "WriteBufferToFile, E_HANDLE, true",
        "WriteBufferToFile, E_INVALIDARG, false",
        "WriteBufferToFile, E_FAIL, true",
        "CreateEvent, E_FAIL, true"
    })
    void aTransferThatTheDriverRefusesIsPermanentAndTheNextOneWorks(
            String function, String answer, boolean asynchronous) throws IOException {
        try (SsgBench ssg = new SsgBench(folder, options(asynchronous))) {
            StorageFile file = ssg.file("file", new byte[BYTES]);
            DeviceBuffer buffer = ssg.filled(new byte[BYTES]);
            Transfer transfer = function.equals(SsgFake.WRITE)
                    ? Transfer.write(buffer.all(), file.all())
                    : Transfer.read(file.all(), buffer.all());
            SsgFake.answer(function, number(answer), 1);
            PenstockException failure = catchThrowableOfType(PermanentStorageException.class, () -> ssg.run(transfer));
            NativeError error = failure.nativeError().orElseThrow();
            assertThat(error.call()).isEqualTo("IAmdDxExtSSG::" + function);
            assertThat(error.symbol()).isEqualTo(answer);
            boolean ofFile = answer.equals("E_FAIL") && !function.equals("CreateEvent");
            assertThat(failure.getMessage().contains("the driver cannot access the file"))
                    .isEqualTo(ofFile);
            assertThat(ssg.run(transfer).bytes()).isEqualTo(BYTES);
        }
    }

    @Test
    void anEventThatIsNotDestroyedFailsNothing() throws IOException {
        try (SsgBench ssg = new SsgBench(folder, options(true))) {
            StorageFile file = ssg.file("file", new byte[BYTES]);
            SsgFake.answer("DestroyEvent", Hresult.E_INVALIDARG, 1);
            assertThat(ssg.run(Transfer.read(file.all(), ssg.buffer(BYTES).all()))
                            .bytes())
                    .isEqualTo(BYTES);
        }
    }
}
