// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

import static io.penstock.engine.testing.BackendFixture.content;
import static io.penstock.engine.testing.BackendFixture.get;
import static io.penstock.engine.testing.BackendFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PeerExport;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.hip.fakes.HipDouble;
import io.penstock.backend.hip.ffi.Hip;
import io.penstock.engine.testing.BackendFixture;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What HIP and hipFile do differently, on their double. */
class HipBackendTest {

    private static final int BYTES = 1 << 20;

    @TempDir
    Path folder;

    private Fixture gpu;

    private static final class Fixture extends BackendFixture {
        Fixture(Path folder) {
            super(folder);
        }

        Backend backend(HipPath path) {
            return backend(HipSubject.options(path));
        }

        Backend backend(Options options) {
            return keep(HipSubject.onNvme(options));
        }

        StorageFile file(Backend backend, byte[] bytes) {
            return open(backend, file("data", bytes), FileOption.READ, FileOption.WRITE);
        }
    }

    @BeforeEach
    void start() {
        HipDouble.require();
        HipDouble.reset();
        gpu = new Fixture(folder);
    }

    @AfterEach
    void nothingIsLeft() {
        HipDouble.require(); // else the test was skipped before it began
        gpu.close();
        HipLeft.assertNothing();
        HipDouble.reset();
    }

    private static Completion move(Backend backend, Transfer transfer) {
        return get(backend.submit(transfer));
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "DIRECT", "SYNC", "BATCH", "STREAM"})
    void wholeBlocksGoDirectlyWhereTheRuntimeHasTheCallsOfTheFastPath(HipPath path) {
        HipDouble.files().set("nvfs", 1);
        byte[] bytes = random(BYTES, 1);
        Backend backend = gpu.backend(path);
        StorageFile file = gpu.file(backend, bytes);
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        assertThat(move(backend, Transfer.read(file.all(), target.all()).requireDirect())
                        .path())
                .isEqualTo(TransferPath.DIRECT);
        assertThat(content(target)).isEqualTo(bytes);
    }

    @Test
    void aFastPathThatMayNotFallBackIsObserved() {
        HipDouble.files().set("nvfs", 1);
        HipDouble.hipFile(5, false);
        Backend backend = gpu.backend(HipPath.DIRECT);
        StorageFile file = gpu.file(backend, random(BYTES, 2));
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        assertThat(move(backend, Transfer.read(file.all(), target.all())).evidence())
                .isEqualTo(Evidence.OBSERVED);
    }

    @Test
    void aReadOfWholeBlocksAcrossARaggedEndIsStagedWhereHipFileMayNotFallBack() {
        HipDouble.files().set("nvfs", 1);
        HipDouble.hipFile(5, false);
        Backend backend = gpu.backend(HipPath.DIRECT);
        StorageFile file = gpu.file(backend, random(10_000, 3));
        DeviceBuffer target = gpu.buffer(backend, 12_288);
        Transfer across = Transfer.read(file.region(0, 12_288), target.all());
        assertThat(move(backend, across).path()).isEqualTo(TransferPath.STAGED);
        assertThatThrownBy(() -> move(backend, across.requireDirect())).hasMessageContaining("reaches the end");
        Transfer before = Transfer.read(file.region(0, 8192), target.region(0, 8192));
        assertThat(move(backend, before).path()).isEqualTo(TransferPath.DIRECT);
    }

    @Test
    void withoutTheCallsOfTheFastPathEverythingIsStagedAndTheReasonIsNamed() {
        HipDouble.runtime(HipDouble.HIP_7_2, false);
        Backend backend = gpu.backend(HipPath.AUTO);
        StorageFile file = gpu.file(backend, random(BYTES, 4));
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        Completion read = move(backend, Transfer.read(file.all(), target.all()));
        assertThat(read.path()).isEqualTo(TransferPath.STAGED);
        assertThat(read.reason()).contains("hipAmdFileRead");
    }

    @ParameterizedTest
    @EnumSource(names = {"BATCH", "STREAM"})
    void beforeVersionFiveBatchesAndStreamCallsAreRefusedByName(HipPath path) {
        HipDouble.hipFile(4, true);
        assertThatThrownBy(() -> gpu.backend(path))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("hipFile 0.4.0")
                .hasMessageContaining("0.5 is needed");
    }

    @Test
    void aResultOfTheRuntimeThatHipFileReturnsHasItsName() {
        Backend backend = gpu.backend(HipPath.SYNC);
        StorageFile file = gpu.file(backend, random(BYTES, 5));
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        HipDouble.files().fail("cuFileRead", 0, -100);
        assertThatThrownBy(() -> move(backend, Transfer.read(file.all(), target.all())))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("hipFileRead -> hipErrorNoDevice (100)");
    }

    @ParameterizedTest
    @CsvSource({
        "-719, hipErrorLaunchFailure (719), DeviceLostException",
        "-5, EIO (5), PermanentStorageException",
        "-5011, hipFileHipDriverError (5011), PermanentStorageException"
    })
    void aLateCountOfABatchIsAnErrnoUnlessLinuxHasNone(int count, String name, String kind) {
        Backend backend = gpu.backend(HipPath.BATCH);
        StorageFile file = gpu.file(backend, random(BYTES, 11));
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        HipDouble.files().fail("late:cuFileBatchIOSubmit", 1, count, 0);
        assertThatThrownBy(() -> move(backend, Transfer.read(file.all(), target.all())))
                .hasMessageContaining("hipFileBatchIO -> " + name)
                .extracting(thrown -> thrown.getClass().getSimpleName())
                .isEqualTo(kind);
    }

    @Test
    void anErrorOfTheSystemHasItsErrno() {
        Backend backend = gpu.backend(HipPath.SYNC);
        StorageFile file = gpu.file(backend, random(BYTES, 6));
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        HipDouble.files().fail("cuFileRead", 0, -1, 5);
        assertThatThrownBy(() -> move(backend, Transfer.read(file.all(), target.all())))
                .hasMessageContaining("hipFileRead -> EIO (5)");
    }

    @Test
    void aStreamOfTheApplicationWaitsForATransferAndAFenceStandsBehindItsWork() {
        byte[] bytes = random(BYTES, 7);
        Backend backend = gpu.backend(HipPath.STAGED);
        StorageFile file = gpu.file(backend, bytes);
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        DeviceBuffer copy = gpu.buffer(backend, BYTES);
        long[] made = new long[1];
        assertThat(Hip.DRIVER.streamCreate(made, Hip.STREAM_NON_BLOCKING)).isZero();
        HipStream stream = HipStream.of(made[0]);
        HipDouble.gpu().hold("cuMemcpyHtoDAsync");
        DeviceFence fence = gpu.keep(get(backend.enqueue(Transfer.read(file.all(), target.all()))));
        stream.await(fence);
        assertThat(Hip.DRIVER.memcpyAsync(copy.nativeHandle(), target.nativeHandle(), BYTES, made[0]))
                .isZero();
        try (DeviceFence behind = stream.fence()) {
            assertThat(behind.isSignalled()).as("the read is held").isFalse();
            HipDouble.gpu().release("cuMemcpyHtoDAsync");
            behind.signalled().block(BackendFixture.LONG);
        }
        assertThat(content(copy)).isEqualTo(bytes);
        Transfer inStream = Transfer.read(file.all(), target.all()).on(HipStream.of(made[0], 0));
        assertThat(move(backend, inStream).bytes()).isEqualTo(BYTES);
        assertThat(Hip.DRIVER.streamDestroy(made[0])).isZero();
    }

    @Test
    void memoryOfTheDeviceIsToldFromMemoryOfTheHostByBothNumberings() {
        for (int version : new int[] {HipDouble.HIP_7_2, 50_600_000}) {
            HipDouble.runtime(version, true);
            Backend backend = gpu.backend(HipPath.STAGED);
            DeviceBuffer memory = gpu.buffer(backend, 8192);
            DeviceBuffer wrapped = gpu.keep(backend.wrap(memory.nativeHandle(), 8192));
            assertThat(wrapped.nativeHandle()).isEqualTo(memory.nativeHandle());
            long[] host = new long[1];
            assertThat(Hip.DRIVER.memHostAlloc(host, 8192, 0)).isZero();
            assertThatThrownBy(() -> backend.wrap(host[0], 8192)).hasMessageContaining("memory of the host");
            assertThat(Hip.DRIVER.memFreeHost(host[0])).isZero();
        }
    }

    @Test
    void theDefaultStreamAndAStreamThatDoesNotExistAreRefused() {
        assertThatThrownBy(() -> HipStream.of(16))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no backend hip is open");
        gpu.backend(HipPath.STAGED);
        assertThatThrownBy(() -> HipStream.of(0)).hasMessageContaining("default stream");
        assertThatThrownBy(() -> HipStream.of(16))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("hipStreamGetDevice -> hipErrorInvalidHandle (400)");
        HipDouble.gpu().forgive(); // of the handle that it does not know
        assertThat(HipStream.library()).isEqualTo(HipDouble.libamdhip64().toString());
    }

    @Test
    void memoryThatIsNotRegisteredIsNamedAsTheReason() {
        HipDouble.files().set("nvfs", 1);
        Backend backend = gpu.backend(HipSubject.options(HipPath.DIRECT).with(HipOptions.REGISTER, Registering.NEVER));
        StorageFile file = gpu.file(backend, random(BYTES, 9));
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        assertThatThrownBy(() ->
                        move(backend, Transfer.read(file.all(), target.all()).requireDirect()))
                .hasMessageContaining("not registered with hipFile");
    }

    @Test
    void aSecondBackendWithAnotherSettingOfTheFallBackIsRefusedHipFileWithBoth() {
        Backend first = gpu.backend(HipPath.SYNC);
        StorageFile file = gpu.file(first, random(8192, 10));
        DeviceBuffer target = gpu.buffer(first, 8192);
        assertThat(move(first, Transfer.read(file.all(), target.all())).bytes()).isEqualTo(8192);
        Backend second = gpu.backend(HipPath.DIRECT);
        StorageFile again = gpu.file(second, random(8192, 10));
        DeviceBuffer other = gpu.buffer(second, 8192);
        Transfer read = Transfer.read(again.all(), other.all());
        assertThat(move(second, read).path()).isEqualTo(TransferPath.STAGED);
        assertThatThrownBy(() -> move(second, read.requireDirect()))
                .hasMessageContaining("penstock.hip.allow-compat=true")
                .hasMessageContaining("cannot be opened a second time with penstock.hip.allow-compat=false");
    }

    @Test
    void theOptionOfTheFallBackIsInTheEnvironmentThatHipFileReads() {
        assertThat(HipDouble.environment("HIPFILE_ALLOW_COMPAT_MODE")).isEqualTo("true");
    }

    @Test
    void memoryIsExportedAsADmaBuf() {
        Backend backend = gpu.backend(HipPath.STAGED);
        DeviceBuffer memory = gpu.buffer(backend, BYTES);
        try (PeerExport export = memory.exportPeer()) {
            assertThat(export.descriptor()).isNotNegative();
            assertThat(export.uri().getScheme()).isEqualTo("hip-ipc");
        }
    }

    @Test
    void copiesBetweenGpusGoByTheirOrdinals() {
        HipDouble.gpu().set("device_count", 2);
        byte[] bytes = random(BYTES, 8);
        Backend first = gpu.backend(HipPath.STAGED);
        Backend second = gpu.backend(HipSubject.options(HipPath.STAGED).with(HipOptions.DEVICE, 1));
        DeviceBuffer from = gpu.buffer(first, BYTES);
        DeviceBuffer to = gpu.buffer(second, BYTES);
        get(from.upload(0, ByteBuffer.wrap(bytes)));
        move(second, Transfer.copy(from.all(), to.all()));
        assertThat(content(to)).isEqualTo(bytes);
        assertThat(HipDouble.gpu().calls("cuMemcpyPeerAsync")).isPositive();
    }

    @Test
    void aCallInAContextRestoresTheThreadsOwnDevice() {
        HipDouble.gpu().set("device_count", 2);
        gpu.backend(HipPath.STAGED);
        gpu.backend(HipSubject.options(HipPath.STAGED).with(HipOptions.DEVICE, 1));
        assertThat(Hip.DRIVER.ctxSetCurrent(1)).isZero();
        assertThat(Hip.DRIVER.in(0, () -> Hip.DRIVER.in(1, () -> Hip.DRIVER.in(0, () -> 0))))
                .isZero();
        int[] device = new int[1];
        HipDouble.library(HipDouble.libamdhip64()).getFunction("hipGetDevice").invoke(new Object[] {device});
        assertThat(device[0]).isEqualTo(1);
        assertThat(Hip.DRIVER.ctxSetCurrent(0)).isZero();
    }

    @Test
    void theDoubleHasNoNameWithAVersion() {
        for (Path library : List.of(HipDouble.libamdhip64(), HipDouble.libhipfile())) {
            for (String name : Arrays.asList("hipMalloc_v2", "hipFree_v2", "hipFileDriverClose_v2")) {
                assertThatThrownBy(() -> HipDouble.library(library).getFunction(name))
                        .isInstanceOf(UnsatisfiedLinkError.class);
            }
        }
    }
}
