// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.platform;

import io.penstock.backend.gl.ffi.EglDeviceCalls;
import java.util.ArrayList;
import java.util.List;

/**
 * A device on which EGL can create contexts.
 *
 * @param index its index in EGL's list
 * @param file the kernel's device file, such as {@code /dev/dri/renderD128}; empty if it does not have one
 */
public record EglDevice(int index, long handle, boolean software, String file) {

    /** Returns the available devices. */
    public static List<EglDevice> all() {
        List<EglDevice> devices = new ArrayList<>();
        for (long handle : EglDeviceCalls.devices()) {
            boolean software = EglDeviceCalls.extensions(handle).contains("EGL_MESA_device_software");
            devices.add(new EglDevice(devices.size(), handle, software, EglDeviceCalls.file(handle)));
        }
        return devices;
    }

    @Override
    public String toString() {
        return "EGL device " + index + (software ? ", software" : "") + (file.isEmpty() ? "" : ", " + file);
    }
}
