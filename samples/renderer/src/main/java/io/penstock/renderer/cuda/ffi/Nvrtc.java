// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.cuda.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** NVIDIA's runtime compiler: CUDA C++ to PTX. */
public final class Nvrtc {

    private static final List<String> NAMES = List.of("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "nvrtc");
    private static final List<String> FOLDERS =
            List.of("/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib", "/opt/cuda/lib64");

    private static final boolean PRESENT = register();

    private Nvrtc() {}

    private static boolean register() {
        for (String name : NAMES) {
            FOLDERS.forEach(folder -> NativeLibrary.addSearchPath(name, folder));
            try {
                Native.register(Nvrtc.class, NativeLibrary.getInstance(name));
                return true;
            } catch (UnsatisfiedLinkError e) {
                // Tries the next name; callers are notified if there is no compiler.
            }
        }
        return false;
    }

    /** Returns true if the compiler is available. */
    public static boolean isPresent() {
        return PRESENT;
    }

    /**
     * Compiles a source.
     *
     * @return PTX, with its final NUL
     * @throws IllegalArgumentException with the compiler's log
     */
    public static byte[] compile(String source, String... options) {
        long[] program = new long[1];
        check(nvrtcCreateProgram(program, source, "compose.cu", 0, null, null), "nvrtcCreateProgram");
        List<Memory> held = new ArrayList<>();
        try (Memory arguments = new Memory((long) Native.POINTER_SIZE * options.length)) {
            for (int i = 0; i < options.length; i++) {
                Memory option = new Memory(options[i].length() + 1L);
                held.add(option);
                option.setString(0, options[i]);
                arguments.setPointer((long) Native.POINTER_SIZE * i, option);
            }
            int answer = nvrtcCompileProgram(program[0], options.length, arguments);
            if (answer != 0) {
                throw new IllegalArgumentException("nvrtcCompileProgram -> " + answer + ": " + log(program[0]));
            }
            long[] bytes = new long[1];
            check(nvrtcGetPTXSize(program[0], bytes), "nvrtcGetPTXSize");
            byte[] ptx = new byte[Math.toIntExact(bytes[0])];
            check(nvrtcGetPTX(program[0], ptx), "nvrtcGetPTX");
            return ptx;
        } finally {
            nvrtcDestroyProgram(program);
            held.forEach(Memory::close);
        }
    }

    private static String log(long program) {
        long[] bytes = new long[1];
        nvrtcGetProgramLogSize(program, bytes);
        byte[] log = new byte[Math.toIntExact(bytes[0])];
        nvrtcGetProgramLog(program, log);
        return new String(log, StandardCharsets.UTF_8).trim();
    }

    private static void check(int answer, String call) {
        if (answer != 0) {
            throw new IllegalStateException(call + " -> " + answer);
        }
    }

    private static native int nvrtcCreateProgram(
            long[] program,
            String source,
            String name,
            int headers,
            @Nullable Pointer contents,
            @Nullable Pointer names);

    private static native int nvrtcCompileProgram(long program, int options, Pointer arguments);

    private static native int nvrtcGetPTXSize(long program, long[] bytes);

    private static native int nvrtcGetPTX(long program, byte[] ptx);

    private static native int nvrtcGetProgramLogSize(long program, long[] bytes);

    private static native int nvrtcGetProgramLog(long program, byte[] log);

    private static native int nvrtcDestroyProgram(long[] program);
}
