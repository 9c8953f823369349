// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.paths;

import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.gpu.context.GpuInfo;
import io.penstock.engine.kit.FirstClasses;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.util.ArrayList;
import java.util.List;

/**
 * The driver and its GPUs, or why they cannot be used. Probing creates no context.
 *
 * @param version the CUDA version of the driver, 1000 * major + 10 * minor; 0 without a driver
 * @param gpus the GPUs found
 * @param reason why this machine's GPUs cannot be used; empty if they can
 * @param remedy how to fix it
 */
public record CudaPlatform(int version, List<GpuInfo> gpus, String reason, String remedy) {

    /** CUDA 11.4, driver R470: the first release with cuFile, and the oldest branch still maintained. */
    private static final int OLDEST = 11_040;

    public static CudaPlatform find(Options options) {
        if (!Machine.isSupported() || !NativeMemory.isAvailable()) {
            return none(
                    "this backend requires 64-bit Linux and JNA, not " + Machine.operatingSystem() + " on "
                            + Machine.architecture(),
                    "use it on such a system");
        }
        String missing = Cuda.load(options.get(CufileOptions.LIBCUDA));
        if (!missing.isEmpty()) {
            return none(
                    "no CUDA driver: " + missing,
                    "install NVIDIA's driver, or name its libcuda.so.1 in " + CufileOptions.LIBCUDA);
        }
        FirstClasses.load();
        int initialized = Cuda.DRIVER.init(0); // takes long, and longer with more GPUs
        if (initialized != Cuda.SUCCESS) {
            return none(notInitialized(initialized), remedyOf(initialized));
        }
        int[] version = new int[1];
        Cuda.DRIVER.driverGetVersion(version);
        if (version[0] < OLDEST || !Cuda.absent().isEmpty()) {
            return none(tooOld(version[0]), "install a driver for CUDA 11.4 (R470) or newer");
        }
        return gpus(version[0]);
    }

    private static CudaPlatform gpus(int version) {
        int[] count = new int[1];
        int counted = Cuda.DRIVER.deviceGetCount(count);
        if (counted != Cuda.SUCCESS || count[0] == 0) {
            return none(
                    "no device: "
                            + (counted == Cuda.SUCCESS
                                    ? "the CUDA driver finds no GPU"
                                    : Cuda.DRIVER
                                            .error("deviceGetCount", counted)
                                            .toString()),
                    remedyOf(Cuda.NO_DEVICE));
        }
        List<GpuInfo> gpus = new ArrayList<>();
        try {
            for (int ordinal = 0; ordinal < count[0]; ordinal++) {
                gpus.add(GpuInfo.of(Cuda.DRIVER, ordinal));
            }
        } catch (PenstockException e) {
            return none("no device: " + e.getMessage(), remedyOf(Cuda.NO_DEVICE));
        }
        return new CudaPlatform(version, gpus, "", "");
    }

    private static String notInitialized(int result) {
        String what = switch (result) {
            case Cuda.NO_DEVICE -> "no device: the CUDA driver finds no GPU";
            case Cuda.STUB_LIBRARY -> "no CUDA driver: " + Cuda.file() + " is the stub that programs are linked with";
            case Cuda.SYSTEM_DRIVER_MISMATCH, Cuda.COMPAT_NOT_SUPPORTED_ON_DEVICE ->
                "too old: " + Cuda.file() + " and the kernel's driver are of different versions";
            case Cuda.NOT_FOUND -> "too old: " + Cuda.file() + " has no cuInit";
            default -> "the CUDA driver does not start";
        };
        return what + " (" + Cuda.DRIVER.error("init", result) + ")";
    }

    private static String remedyOf(int result) {
        return switch (result) {
            case Cuda.NO_DEVICE ->
                "check nvidia-smi; in a container, pass the GPU (--gpus), and check CUDA_VISIBLE_DEVICES";
            case Cuda.STUB_LIBRARY ->
                "install NVIDIA's driver, and keep CUDA's folder of stubs out of the library path";
            default -> "check nvidia-smi and the kernel's log; reinstall or reboot after a change of the driver";
        };
    }

    private static String tooOld(int version) {
        String lacks = Cuda.absent().isEmpty() ? "" : ", and lacks " + String.join(", ", Cuda.absent());
        return "too old: the driver is for CUDA " + describe(version) + lacks;
    }

    private static String describe(int version) {
        return version / 1000 + "." + version % 1000 / 10;
    }

    private static CudaPlatform none(String reason, String remedy) {
        return new CudaPlatform(0, List.of(), reason, remedy);
    }

    /** Returns the platform with the GPU that the options name, or with the reason why it cannot be used. */
    public CudaPlatform with(int ordinal) {
        if (!isUsable() || ordinal < gpus.size()) {
            return this;
        }
        return none(
                "no device: there is no GPU " + ordinal + ", the CUDA driver lists " + gpus.size() + ", from 0",
                "set " + CufileOptions.DEVICE + " to an existing one");
    }

    public boolean isUsable() {
        return reason.isEmpty();
    }

    /** Returns the version as text, {@code CUDA 13.0}. */
    public String driver() {
        return "CUDA " + describe(version);
    }
}
