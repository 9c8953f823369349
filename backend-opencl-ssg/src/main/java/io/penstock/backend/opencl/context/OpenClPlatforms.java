// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.context;

import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.backend.opencl.cl.OpenClDevice;
import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.cl.OpenClPlatform;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.ffi.SignalHandlers;
import java.util.ArrayList;
import java.util.List;

/**
 * All platforms and their devices, or why there are none. Probing creates no context.
 *
 * @param platforms the platforms that the loader finds
 * @param devices the devices of all platforms, numbered in the loader's order
 * @param troubles the errors of single platforms while others worked, a line each
 * @param reason why OpenCL cannot be used here; empty if it can
 * @param remedy how to fix it
 */
public record OpenClPlatforms(
        List<OpenClPlatform> platforms,
        List<OpenClDevice> devices,
        List<String> troubles,
        String reason,
        String remedy) {

    private static final String INSTALL = "install the device's OpenCL driver, or pocl-opencl-icd for the processor; in"
            + " a container, check /etc/OpenCL/vendors and OCL_ICD_VENDORS";

    public static OpenClPlatforms find(Options options) {
        if (!NativeMemory.isAvailable()) {
            return none(
                    "this backend requires a 64-bit system and JNA, not " + Machine.operatingSystem() + " on "
                            + Machine.architecture(),
                    "use it on such a system");
        }
        String missing = OpenCl.LIBRARY.load(options.get(OpenClOptions.LIBRARY));
        if (!missing.isEmpty()) {
            return none(
                    "no OpenCL: " + missing,
                    "install ocl-icd-libopencl1 or the driver of the device, or name the library in "
                            + OpenClOptions.LIBRARY);
        }
        if (!OpenCl.LIBRARY.absent().isEmpty()) {
            return none(
                    "too old: " + OpenCl.LIBRARY.file() + " lacks " + String.join(", ", OpenCl.LIBRARY.absent()),
                    "install a loader for OpenCL 1.2 or newer");
        }
        return SignalHandlers.keep(OpenClPlatforms::query);
    }

    /** Queries the platforms. This loads and initializes the drivers, if no earlier call of the process has. */
    private static OpenClPlatforms query() {
        int[] count = new int[1];
        int counted = OpenCl.clGetPlatformIDs(0, null, count);
        if (counted == OpenClError.PLATFORM_NOT_FOUND_KHR || (counted == OpenClError.SUCCESS && count[0] == 0)) {
            return none("no OpenCL platform: " + OpenCl.LIBRARY.file() + " finds no driver", INSTALL);
        }
        if (counted != OpenClError.SUCCESS) {
            return none("no OpenCL platform: " + OpenClFailure.error("clGetPlatformIDs", counted), INSTALL);
        }
        long[] handles = new long[count[0]];
        OpenCl.clGetPlatformIDs(handles.length, handles, count);
        return of(handles);
    }

    private static OpenClPlatforms of(long[] handles) {
        List<OpenClPlatform> platforms = new ArrayList<>();
        List<OpenClDevice> devices = new ArrayList<>();
        List<String> troubles = new ArrayList<>();
        for (long handle : handles) {
            try {
                OpenClPlatform platform = OpenClPlatform.of(handle);
                platforms.add(platform);
                addDevices(platform, devices, troubles);
            } catch (PenstockException broken) {
                troubles.add(String.valueOf(broken.getMessage()));
            }
        }
        if (!devices.isEmpty()) {
            return new OpenClPlatforms(platforms, devices, troubles, "", "");
        }
        String reason = "no OpenCL device: " + platforms + (troubles.isEmpty() ? "" : "; " + troubles);
        PoclCache cache = PoclCache.of(System.getenv());
        boolean pocl = platforms.stream().anyMatch(platform -> platform.name().equals(PoclCache.PLATFORM));
        return pocl && cache.isRefused()
                ? new OpenClPlatforms(
                        platforms,
                        devices,
                        troubles,
                        reason + "; PoCL cannot create its cache in " + cache.folder(),
                        PoclCache.REMEDY)
                : new OpenClPlatforms(platforms, devices, troubles, reason, INSTALL);
    }

    private static void addDevices(OpenClPlatform platform, List<OpenClDevice> devices, List<String> troubles) {
        int[] count = new int[1];
        int counted = OpenCl.clGetDeviceIDs(platform.handle(), OpenCl.CL_DEVICE_TYPE_ALL, 0, null, count);
        if (counted != OpenClError.SUCCESS) {
            troubles.add(platform.name() + ": " + OpenClFailure.error("clGetDeviceIDs", counted));
            return;
        }
        long[] handles = new long[count[0]];
        OpenCl.clGetDeviceIDs(platform.handle(), OpenCl.CL_DEVICE_TYPE_ALL, handles.length, handles, count);
        for (long handle : handles) {
            devices.add(OpenClDevice.of(devices.size(), handle, platform));
        }
    }

    private static OpenClPlatforms none(String reason, String remedy) {
        return new OpenClPlatforms(List.of(), List.of(), List.of(), reason, remedy);
    }

    public boolean isUsable() {
        return reason.isEmpty();
    }
}
