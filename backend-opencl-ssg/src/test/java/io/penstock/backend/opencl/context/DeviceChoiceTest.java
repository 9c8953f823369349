// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.BackendUnavailableException;
import io.penstock.backend.opencl.cl.OpenClDevice;
import io.penstock.backend.opencl.cl.OpenClPlatform;
import io.penstock.backend.opencl.ffi.OpenCl;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which device an option means, on a machine with many. */
class DeviceChoiceTest {

    private static final OpenClPlatform POCL = platform("Portable Computing Language", "");
    private static final OpenClPlatform NVIDIA = platform("NVIDIA CUDA", "");
    private static final OpenClPlatform AMD = platform("AMD Accelerated Parallel Processing", "");

    private static final List<OpenClDevice> ALL = List.of(
            device(0, POCL, "pthread-EPYC", OpenCl.CL_DEVICE_TYPE_CPU, 512, 300, true, ""),
            device(1, NVIDIA, "NVIDIA H100", OpenCl.CL_DEVICE_TYPE_GPU, 80, 300, true, ""),
            device(2, NVIDIA, "NVIDIA H200", OpenCl.CL_DEVICE_TYPE_GPU, 141, 300, true, ""),
            device(3, NVIDIA, "NVIDIA H200", OpenCl.CL_DEVICE_TYPE_GPU, 141, 300, true, ""),
            device(4, AMD, "Fiji", OpenCl.CL_DEVICE_TYPE_GPU, 16, 200, true, "cl_khr_fp64 cl_amd_liquid_flash"),
            device(5, AMD, "Old", OpenCl.CL_DEVICE_TYPE_GPU, 999, 110, true, ""),
            device(6, AMD, "Board", OpenCl.CL_DEVICE_TYPE_ACCELERATOR, 1, 120, true, ""),
            device(7, AMD, "Elsewhere", OpenCl.CL_DEVICE_TYPE_GPU, 999, 200, false, ""));

    private static OpenClPlatform platform(String name, String extensions) {
        return new OpenClPlatform(name.hashCode(), name, "OpenCL 3.0", Set.of(extensions.split(" ")));
    }

    private static OpenClDevice device(
            int index,
            OpenClPlatform platform,
            String name,
            long type,
            long gib,
            int version,
            boolean available,
            String extensions) {
        return new OpenClDevice(
                index,
                index + 1L,
                platform,
                name,
                version,
                type,
                gib << 30,
                gib << 28,
                type == OpenCl.CL_DEVICE_TYPE_CPU,
                0,
                available,
                Set.of(extensions.split(" ")));
    }

    @ParameterizedTest
    @CsvSource({
        "best, 4",
        "BEST, 4",
        "ssg, 4",
        "0, 0",
        "3, 3",
        "cpu, 0",
        "accelerator, 6",
        "h200, 2",
        "nvidia, 2",
        "portable computing, 0",
        "H100, 1",
        "fiji, 4"
    })
    void aDeviceIsFoundByNumberNameAndType(String wanted, int index) {
        assertThat(new DeviceChoice(wanted).among(ALL).index()).isEqualTo(index);
    }

    @Test
    void aGpuIsPreferredToAProcessorOfAnyMemorySize() {
        assertThat(new DeviceChoice("best").among(ALL.subList(0, 4)).index()).isEqualTo(2);
        assertThat(new DeviceChoice("best")
                        .among(List.of(ALL.get(0), ALL.get(6)))
                        .index())
                .isEqualTo(6);
    }

    @ParameterizedTest
    @CsvSource({"8", "custom", "intel", "99999999999"})
    void anUnmatchedDeviceOptionIsRefusedWithAListOfTheDevices(String wanted) {
        assertThatThrownBy(() -> new DeviceChoice(wanted).among(ALL))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("penstock.opencl.device=" + wanted)
                .hasMessageContaining("device 0: pthread-EPYC, cpu, OpenCL 3.0, 524288 MiB")
                .hasMessageContaining("device 4: Fiji");
    }

    @Test
    void aDeviceThatIsTooOldOrTakenIsRefusedForThat() {
        assertThatThrownBy(() -> new DeviceChoice("5").among(ALL))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("too old: OpenCL 1.2 is needed");
        assertThatThrownBy(() -> new DeviceChoice("elsewhere").among(ALL))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("not available now");
    }

    @Test
    void versionsAreReadFromTheVendorsWords() {
        assertThat(OpenClPlatform.version("OpenCL 1.2 CUDA 9.1")).isEqualTo(120);
        assertThat(OpenClPlatform.version("OpenCL 3.0 PoCL HSTR: pthread")).isEqualTo(300);
        assertThat(OpenClPlatform.version("OpenCL C 1.2")).isZero();
        assertThat(OpenClPlatform.version("")).isZero();
    }
}
