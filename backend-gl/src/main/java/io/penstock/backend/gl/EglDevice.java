// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.EglDeviceCalls;
import java.util.ArrayList;
import java.util.List;

/**
 * A device that EGL can make contexts on.
 *
 * @param index its place in EGL's list
 * @param file of the kernel, such as {@code /dev/dri/renderD128}; empty where it has none
 */
record EglDevice(int index, long handle, boolean software, String file) {

    /** Returns those that there are. */
    static List<EglDevice> all() {
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
