// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.paths;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.backend.gpu.api.GpuOptions;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.GpuInfo;
import io.penstock.backend.hip.HipOptions;
import io.penstock.backend.hip.HipRuntime;
import io.penstock.backend.hip.ffi.Hip;
import io.penstock.backend.hip.ffi.HipFile;
import io.penstock.backend.hip.ffi.HipOverCuda;
import io.penstock.engine.kit.FirstClasses;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.util.ArrayList;
import java.util.List;

/**
 * The runtime and its GPUs, or why they cannot be used. Probing starts no device.
 *
 * @param version the runtime's version, as it counts; 0 without a runtime
 * @param gpus the GPUs found
 * @param reason why this machine's GPUs cannot be used; empty if they can
 * @param remedy how to fix it
 */
record HipPlatform(int version, List<GpuInfo> gpus, String reason, String remedy) {

    private static final String NO_GPU = "check rocminfo, and that this user may open /dev/kfd and /dev/dri/renderD*"
            + " (groups render and video); in a container pass both (--device), and check HIP_VISIBLE_DEVICES";

    private static final GpuOptions OPTIONS = new GpuOptions(
            HipOptions.PATH,
            HipOptions.DEVICE,
            HipOptions.REGISTER,
            HipOptions.REGISTER_BYTES,
            HipOptions.DIRECT_BYTES,
            HipOptions.SEGMENT_BYTES,
            HipOptions.THREADS,
            HipOptions.STREAMS);

    /** Returns the table that the options select; it is loaded by {@link #find}. */
    static Hip runtime(Options options) {
        return options.get(HipOptions.RUNTIME) == HipRuntime.CUDA ? HipOverCuda.CUDA : Hip.DRIVER;
    }

    static HipPlatform find(Options options) {
        if (!Machine.isSupported() || !NativeMemory.isAvailable()) {
            return none(
                    "this backend requires 64-bit Linux and JNA, not " + Machine.operatingSystem() + " on "
                            + Machine.architecture(),
                    "use it on such a system");
        }
        Hip hip = runtime(options);
        String missing = hip.load(options.get(HipOptions.LIBAMDHIP64));
        if (!missing.isEmpty()) {
            return none(
                    "no HIP runtime: " + missing,
                    "install ROCm's HIP runtime (hip-runtime-amd, libamdhip64), or name its libamdhip64.so in "
                            + HipOptions.LIBAMDHIP64);
        }
        FirstClasses.load();
        int initialized = hip.init(0); // takes long
        if (initialized != Hip.SUCCESS) {
            return none("no device: " + hip.error("init", initialized), NO_GPU);
        }
        int version = hip.runtimeVersion();
        if (version < hip.oldest() || !hip.absent().isEmpty()) {
            String lacks = hip.absent().isEmpty() ? "" : ", and lacks " + String.join(", ", hip.absent());
            return none(
                    "too old: " + Hip.file() + " is " + hip.describe(version) + lacks,
                    "install a runtime of " + hip.describe(hip.oldest()) + " or newer");
        }
        return gpus(hip, version);
    }

    private static HipPlatform gpus(Hip hip, int version) {
        int[] count = new int[1];
        int counted = hip.deviceGetCount(count);
        if (counted != Hip.SUCCESS || count[0] == 0) {
            String why = counted == Hip.SUCCESS
                    ? "the HIP runtime finds no GPU"
                    : hip.error("deviceGetCount", counted).toString();
            return none("no device: " + why, NO_GPU);
        }
        List<GpuInfo> gpus = new ArrayList<>();
        try {
            for (int ordinal = 0; ordinal < count[0]; ordinal++) {
                gpus.add(GpuInfo.of(hip, ordinal));
            }
        } catch (PenstockException e) {
            return none("no device: " + e.getMessage(), NO_GPU);
        }
        return new HipPlatform(version, gpus, "", "");
    }

    private static HipPlatform none(String reason, String remedy) {
        return new HipPlatform(0, List.of(), reason, remedy);
    }

    /** Returns the platform with the GPU that the options name, or with the reason why it cannot be used. */
    HipPlatform with(int ordinal) {
        if (!isUsable() || ordinal < gpus.size()) {
            return this;
        }
        return none(
                "no device: there is no GPU " + ordinal + ", the HIP runtime lists " + gpus.size() + ", from 0",
                "set " + HipOptions.DEVICE + " to an existing one");
    }

    boolean isUsable() {
        return reason.isEmpty();
    }

    /**
     * Opens the device that the options select, or adds a user to it.
     *
     * @throws BackendUnavailableException if there is no runtime or no such GPU
     */
    static GpuContext open(Options options) {
        int ordinal = options.get(HipOptions.DEVICE);
        HipPlatform chosen = find(options).with(ordinal);
        if (!chosen.isUsable()) {
            throw new BackendUnavailableException(chosen.reason + "; " + chosen.remedy, Failure.NOT_STARTED, null);
        }
        return GpuContext.open(HipFile.over(runtime(options)), OPTIONS, chosen.gpus.get(ordinal), 0);
    }
}
