// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.paths.CufileProvider;
import io.penstock.engine.testing.FakeControl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The descriptions of a machine's GPUs, and the reasons why they cannot be used (rule 501). */
@ExtendWith(FreshFakes.class)
class CudaProbeTest {

    private Options options;
    private FakeControl cuda;

    @BeforeEach
    void find() {
        options = CufileSubject.fakes();
        cuda = Fakes.cuda();
    }

    private Availability probe() {
        return new CufileProvider().probe(options.resolve(Backends.options()));
    }

    private void assertAbsent(String reason, String remedy) {
        Availability absent = probe();
        assertThat(absent.available()).as(absent.toString()).isFalse();
        assertThat(absent.reason()).contains(reason);
        assertThat(absent.remedy()).contains(remedy);
        assertThatThrownBy(() -> Backends.open("cufile", options))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining(reason);
        assertThat(cuda.live("contexts")).isZero();
    }

    @Test
    void required_501_aGpuIsFoundWithoutAContext() {
        cuda.set("device_count", 2);
        Availability found = probe();
        assertThat(found.available()).as(found.reason()).isTrue();
        assertThat(found.hardware()).isTrue();
        assertThat(found.reason()).contains("CUDA 13.0");
        assertThat(found.details())
                .anyMatch(line -> line.startsWith("driver: CUDA 13.0, ") && line.contains("libcuda.so.1"))
                .anyMatch(line -> line.startsWith("GPU 0: "))
                .anyMatch(line -> line.startsWith("staging buffers, past the page cache: "))
                .anyMatch(line -> line.startsWith("GPU 1: ") && line.endsWith(", peer access to GPU 0"));
        assertThat(cuda.live("contexts")).isZero();
        assertThat(cuda.calls("cuDevicePrimaryCtxRetain")).isZero();
    }

    @Test
    void gpusThatDoNotReachEachOtherAreTold() {
        cuda.set("device_count", 2);
        cuda.set("no_peers", 1);
        assertThat(probe().details())
                .anyMatch(line -> line.startsWith("GPU 0: ") && line.endsWith(", peer access to none"));
    }

    @Test
    void required_501_aMissingDriverIsReportedWithTheNamesThatWereTried() {
        options = options.with(CufileOptions.LIBCUDA, "/nowhere/libcuda.so.1");
        assertAbsent("no CUDA driver: ", "penstock.cufile.libcuda");
        assertThat(probe().reason()).contains("/nowhere/libcuda.so.1");
    }

    @Test
    void required_501_aMissingGpuIsReportedBeforeAnInvalidContext() {
        options = options.with(CufileOptions.CONTEXT, "current");
        cuda.set("device_count", 0);
        assertAbsent("no device: the CUDA driver finds no GPU", "nvidia-smi");
        options = options.with(CufileOptions.LIBCUDA, "/nowhere/libcuda.so.1");
        assertAbsent("no CUDA driver: ", "penstock.cufile.libcuda");
    }

    @Test
    void required_501_aFileThatIsNoLibraryIsNoDriver(@TempDir Path folder) throws IOException {
        Path text = Files.writeString(folder.resolve("libcuda.so.1"), "not a library");
        options = options.with(CufileOptions.LIBCUDA, text.toString());
        assertAbsent("no CUDA driver: ", "install NVIDIA's driver");
    }

    @Test
    void required_501_aSecondDriverBesideTheFirstIsRefusedWithBoth(@TempDir Path folder) throws IOException {
        assertThat(probe().available()).isTrue();
        Path copy = Files.copy(Fakes.libcuda(), folder.resolve("libcuda.so.1"));
        options = options.with(CufileOptions.LIBCUDA, copy.toString());
        assertAbsent(Fakes.libcuda().toString(), "penstock.cufile.libcuda");
        assertThat(probe().reason()).contains(copy.toString());
    }

    @Test
    void required_501_noDeviceIsReported() {
        cuda.set("device_count", 0);
        assertAbsent("no device: the CUDA driver finds no GPU (cuInit -> CUDA_ERROR_NO_DEVICE (100))", "nvidia-smi");
    }

    @Test
    void required_501_anAbsentGpuIsReportedWithTheCount() {
        options = options.with(CufileOptions.DEVICE, 7);
        assertAbsent("there is no GPU 7, the CUDA driver lists 1", "penstock.cufile.device");
    }

    @Test
    void required_501_anOldDriverIsTooOld() {
        cuda.set("driver_version", 10_020);
        assertAbsent("too old: the driver is for CUDA 10.2", "11.4");
    }

    @ParameterizedTest
    @CsvSource({
        "34, no CUDA driver: , CUDA_ERROR_STUB_LIBRARY",
        "803, too old: , CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        "804, too old: , CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        "999, the CUDA driver does not start, CUDA_ERROR_UNKNOWN"
    })
    void required_501_aDriverThatDoesNotStartIsReportedWithItsError(int answer, String reason, String symbol) {
        cuda.fail("cuInit", 0, answer);
        assertAbsent(reason, "");
        assertThat(probe().reason()).contains(symbol);
    }

    @Test
    void required_501_aGpuThatIsLostDuringTheProbeIsReported() {
        cuda.fail("cuDeviceTotalMem", 0, 999);
        assertAbsent("query of GPU 0 failed: cuDeviceTotalMem -> CUDA_ERROR_UNKNOWN (999)", "");
    }

    @Test
    void aContextThatTheThreadDoesNotHaveIsAReason() {
        options = options.with(CufileOptions.CONTEXT, "current");
        assertAbsent("no CUDA context is current on thread", "");
    }

    @ParameterizedTest
    @CsvSource({"secondary", "0", "-16", "0xzz"})
    void aContextThatIsNoneOfTheThreeIsAnErrorThatNamesThem(String text) {
        options = options.with(CufileOptions.CONTEXT, text);
        assertThatThrownBy(() -> Backends.open("cufile", options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("penstock.cufile.context=" + text)
                .hasMessageContaining("primary, current, or the address");
    }

    @ParameterizedTest
    @ValueSource(strings = {"cuDevicePrimaryCtxRetain", "cuCtxPushCurrent", "cuMemHostRegister", "cuEventCreate"})
    void aFailedOpenReportsTheReasonAndLeavesNothing(String call) {
        cuda.fail(call, call.equals("cuDevicePrimaryCtxRetain") ? 1 : 3, Cuda.OUT_OF_MEMORY);
        assertThatThrownBy(() -> Backends.open("cufile", options))
                .isInstanceOf(PenstockException.class)
                .hasMessageContaining(call + " -> CUDA_ERROR_OUT_OF_MEMORY (2)");
        for (String kind : new String[] {"contexts", "streams", "events", "host_buffers"}) {
            assertThat(cuda.live(kind)).as(kind).isZero();
        }
        try (Backend backend = Backends.open("cufile", options)) {
            assertThat(backend.capabilities().device()).isNotBlank();
        }
    }
}
