// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ffi;

import com.sun.jna.Function;
import com.sun.jna.Pointer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The functions of {@code EGL_EXT_device_enumeration} and {@code EGL_EXT_device_query}, which libraries do not export.
 */
public final class EglDeviceCalls {
    private static final int MOST = 64;
    private static final int EGL_DRM_DEVICE_FILE_EXT = 0x3233;
    private static final int EGL_DRM_RENDER_NODE_FILE_EXT = 0x3377;

    private EglDeviceCalls() {}

    /** Returns the handles of the devices, in EGL's order; none if EGL does not have the extension. */
    public static long[] devices() {
        Function query = function("eglQueryDevicesEXT");
        long[] devices = new long[MOST];
        int[] count = new int[1];
        if (query == null || query.invokeInt(new Object[] {MOST, devices, count}) == 0) {
            return new long[0];
        }
        return Arrays.copyOf(devices, count[0]);
    }

    /** Returns the extensions of a device, which also identify its kind; empty if EGL cannot query them. */
    public static String extensions(long device) {
        return text(device, Egl.EGL_EXTENSIONS);
    }

    /** Returns the device file of a device of the kernel, {@code /dev/dri/renderD128}; empty for others. */
    public static String file(long device) {
        String extensions = extensions(device);
        if (extensions.contains("EGL_EXT_device_drm_render_node")) {
            return text(device, EGL_DRM_RENDER_NODE_FILE_EXT);
        }
        return extensions.contains("EGL_EXT_device_drm") ? text(device, EGL_DRM_DEVICE_FILE_EXT) : "";
    }

    private static String text(long device, int name) {
        Function query = function("eglQueryDeviceStringEXT");
        String text = query == null ? null : query.invokeString(new Object[] {new Pointer(device), name}, false);
        return text == null ? "" : text;
    }

    private static @Nullable Function function(String name) {
        long address = Egl.eglGetProcAddress(name);
        return address == 0 ? null : Function.getFunction(new Pointer(address));
    }
}
