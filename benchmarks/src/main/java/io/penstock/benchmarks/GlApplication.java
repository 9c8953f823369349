// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.gl.GlBackends;
import io.penstock.backend.gl.ffi.Egl;
import io.penstock.backend.gl.ffi.EglDeviceCalls;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.options.GlOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * An application's context, on the device that the backend uses too. Backends share its buffers, so the application can
 * check what they have moved.
 *
 * <p><b>Threading:</b> it is current on the thread that creates it, and is used there.
 */
final class GlApplication implements AutoCloseable {

    private static final int[] CORE = {Egl.EGL_CONTEXT_MAJOR_VERSION, 4, Egl.EGL_CONTEXT_MINOR_VERSION, 5, Egl.EGL_NONE
    };

    private final long display;
    private final long context;

    private GlApplication(long display, long shared) {
        this.display = display;
        if (Egl.eglBindAPI(Egl.EGL_OPENGL_API) == 0) {
            throw failure("eglBindAPI");
        }
        context = Egl.eglCreateContext(display, 0, shared, CORE);
        if (context == 0) {
            throw failure("eglCreateContext of OpenGL 4.5");
        }
        if (Egl.eglMakeCurrent(display, 0, 0, context) == 0) {
            throw failure("eglMakeCurrent");
        }
    }

    /**
     * Creates a context on the device that {@link GlOptions#DEVICE} names; the backend has been probed, so the
     * libraries are loaded.
     */
    static GlApplication start() {
        return new GlApplication(
                display(Options.none().resolve(Backends.options()).get(GlOptions.DEVICE)), 0);
    }

    /** Creates a context on the calling thread that shares with this one. */
    GlApplication another() {
        return new GlApplication(display, context);
    }

    /** Opens a backend that shares with this; the caller closes it. */
    Backend backend(Options options) {
        return GlBackends.sharing(display, context, options);
    }

    /** In the order of the backend: a GPU, a display without a device, a software renderer. */
    private static long display(String wanted) {
        List<Long> devices = new ArrayList<>();
        int gpus = 0;
        for (long device : EglDeviceCalls.devices()) {
            boolean software = EglDeviceCalls.extensions(device).contains("EGL_MESA_device_software");
            devices.add(software ? devices.size() : gpus++, device);
        }
        if (wanted.matches("\\d+")) {
            return open(Egl.EGL_PLATFORM_DEVICE_EXT, EglDeviceCalls.devices()[Integer.parseInt(wanted)]);
        }
        long display = 0;
        for (int gpu = 0; gpu < gpus && display == 0 && wanted.equals("auto"); gpu++) {
            display = open(Egl.EGL_PLATFORM_DEVICE_EXT, devices.get(gpu));
        }
        if (display == 0) {
            display = open(Egl.EGL_PLATFORM_SURFACELESS_MESA, 0);
        }
        if (display == 0 && gpus < devices.size()) {
            display = open(Egl.EGL_PLATFORM_DEVICE_EXT, devices.get(gpus));
        }
        if (display == 0) {
            throw failure("eglGetPlatformDisplay");
        }
        return display;
    }

    private static long open(int platform, long device) {
        long display = Egl.eglGetPlatformDisplay(platform, device, null);
        return display != 0 && Egl.eglInitialize(display, new int[1], new int[1]) != 0 ? display : 0;
    }

    private static IllegalStateException failure(String call) {
        return new IllegalStateException(call + " -> 0x" + Integer.toHexString(Egl.eglGetError()));
    }

    @Override
    public void close() {
        Gl.glFinish();
        Egl.eglMakeCurrent(display, 0, 0, 0);
        Egl.eglDestroyContext(display, context);
        Egl.eglReleaseThread();
    }
}
