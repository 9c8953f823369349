// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.platform;

import io.penstock.NativeError;
import io.penstock.Options;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.ffi.Egl;
import io.penstock.backend.gl.ffi.EglError;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.Wgl;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The display on which the backend creates its contexts, or why there is none.
 *
 * <p>A display is initialized once and never terminated: EGL has one per device in a process, which the application may
 * use too, and terminating it destroys all contexts on it.
 *
 * @param display its handle; 0 if there is none
 * @param name {@code surfaceless} or a device
 * @param devices the devices that EGL lists
 * @param reason why this machine's EGL cannot be used; empty if it can
 * @param remedy what the user can do about it
 */
public record EglPlatform(long display, String name, List<EglDevice> devices, String reason, String remedy) {

    private static final String SURFACELESS = "surfaceless";
    private static final String AUTO = "auto";

    /** Loads OpenGL; returns a platform without a display, with the reason if loading failed. */
    public static EglPlatform libraries(Options options) {
        if (!(Machine.isSupported() || Wgl.isHere()) || !NativeMemory.isAvailable()) {
            return none(
                    "this backend requires 64-bit Linux or Windows and JNA, not " + Machine.operatingSystem() + " on "
                            + Machine.architecture(),
                    "use it on such a system");
        }
        String missing = Gl.load(options.get(GlOptions.LIBGL));
        if (!missing.isEmpty()) {
            return none(
                    "no OpenGL: " + missing,
                    "install libopengl0 and the driver of the GPU, or name the library in " + GlOptions.LIBGL);
        }
        return new EglPlatform(0, "", List.of(), "", "");
    }

    /** Loads OpenGL and EGL; returns a platform without a display, with the reason if loading failed. */
    public static EglPlatform egl(Options options) {
        if (Wgl.isHere()) {
            return none(
                    "no EGL on Windows", "pass a WGL context (GlBackends.in), or use the application's own (GlPump)");
        }
        EglPlatform loaded = libraries(options);
        String missing = loaded.isUsable() ? Egl.LIBRARY.load(options.get(GlOptions.LIBEGL)) : "";
        return missing.isEmpty()
                ? loaded
                : none(
                        "no EGL: " + missing,
                        "install libegl1 and the driver of the GPU, or name the library in " + GlOptions.LIBEGL);
    }

    /** Finds the display that {@link GlOptions#DEVICE} names. */
    public static EglPlatform find(Options options) {
        EglPlatform loaded = egl(options);
        if (!loaded.isUsable()) {
            return loaded;
        }
        List<EglDevice> devices = EglDevice.all();
        List<String> reasons = new ArrayList<>();
        for (Candidate candidate : candidates(options, devices)) {
            EglPlatform platform = candidate.open(devices);
            if (platform.isUsable()) {
                return platform;
            }
            reasons.add(platform.reason);
        }
        return none(
                "no display: " + (reasons.isEmpty() ? "EGL lists " + devices : String.join("; ", reasons)),
                "install libegl-mesa0 or the driver of the GPU; set " + GlOptions.DEVICE + " to an existing one");
    }

    private static List<Candidate> candidates(Options options, List<EglDevice> devices) {
        String wanted = options.get(GlOptions.DEVICE);
        Candidate surfaceless = new Candidate(Egl.EGL_PLATFORM_SURFACELESS_MESA, 0, SURFACELESS);
        if (wanted.equals(SURFACELESS)) {
            return List.of(surfaceless);
        }
        if (!wanted.equals(AUTO)) {
            int index = index(wanted, options.source(GlOptions.DEVICE));
            return devices.stream()
                    .filter(device -> device.index() == index)
                    .map(Candidate::of)
                    .toList();
        }
        return Stream.of(
                        devices.stream().filter(device -> !device.software()).map(Candidate::of),
                        Stream.of(surfaceless),
                        devices.stream().filter(EglDevice::software).map(Candidate::of))
                .flatMap(some -> some)
                .toList();
    }

    private static int index(String text, String source) {
        try {
            int index = Integer.parseInt(text);
            if (index >= 0) {
                return index;
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        throw new IllegalArgumentException(source + " sets " + GlOptions.DEVICE + "=" + text
                + ", but it must be auto, surfaceless, or the number of a device");
    }

    /** A display that may be available. */
    private record Candidate(int platform, long device, String name) {

        static Candidate of(EglDevice device) {
            return new Candidate(Egl.EGL_PLATFORM_DEVICE_EXT, device.handle(), device.toString());
        }

        EglPlatform open(List<EglDevice> devices) {
            long display = Egl.eglGetPlatformDisplay(platform, device, null);
            if (display == 0) {
                return none(name + ": " + error("eglGetPlatformDisplay"), "");
            }
            if (Egl.eglInitialize(display, new int[1], new int[1]) == 0) {
                return none(name + ": " + error("eglInitialize"), "");
            }
            String extensions = String.valueOf(Egl.eglQueryString(display, Egl.EGL_EXTENSIONS));
            if (!extensions.contains("EGL_KHR_surfaceless_context")) {
                return none(name + " makes contexts for windows only, without EGL_KHR_surfaceless_context", "");
            }
            return new EglPlatform(display, name, devices, "", "");
        }
    }

    /** Returns the EGL error of the call that failed on this thread. */
    static NativeError error(String call) {
        int code = Egl.eglGetError();
        return new NativeError(call, code, EglError.symbol(code));
    }

    private static EglPlatform none(String reason, String remedy) {
        return new EglPlatform(0, "", List.of(), reason, remedy);
    }

    public boolean isUsable() {
        return reason.isEmpty();
    }

    /**
     * Returns this platform if it can be used.
     *
     * @throws io.penstock.BackendUnavailableException with reason and remedy if it cannot
     */
    public EglPlatform orThrow() {
        if (!isUsable()) {
            throw GlFailure.unavailable(reason + "; " + remedy);
        }
        return this;
    }

    /** Returns EGL's version string of the display. */
    public String version() {
        return Egl.eglQueryString(display, Egl.EGL_VERSION) + ", " + Egl.eglQueryString(display, Egl.EGL_VENDOR);
    }
}
