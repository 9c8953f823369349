// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gpu.ffi;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A vendor's runtime compiler: CUDA C++ to what its driver loads. NVRTC makes PTX, HIPRTC a code object. */
public final class RuntimeCompiler {

    /** The functions, by HIPRTC's names without prefix. */
    interface Calls extends Library {

        int createProgram(
                long[] program,
                String source,
                String name,
                int headers,
                @Nullable Pointer contents,
                @Nullable Pointer names);

        int compileProgram(long program, int options, String[] arguments);

        int getCodeSize(long program, long[] bytes);

        int getCode(long program, byte[] code);

        int getProgramLogSize(long program, long[] bytes);

        int getProgramLog(long program, byte[] log);

        int destroyProgram(long[] program);
    }

    private static final List<String> NVRTC = List.of("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "nvrtc");
    private static final List<String> CUDA_FOLDERS =
            List.of("/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib", "/opt/cuda/lib64");

    private final String prefix;
    private final Calls calls;

    private RuntimeCompiler(String prefix, String library) {
        this.prefix = prefix;
        this.calls = Native.load(library, Calls.class, GpuDriver.options((from, method) -> symbol(method.getName())));
        Native.getNativeLibrary(calls).getFunction(symbol("createProgram"));
    }

    /** Returns NVIDIA's, if it is available. */
    public static Optional<RuntimeCompiler> nvrtc() {
        NVRTC.forEach(name -> CUDA_FOLDERS.forEach(folder -> NativeLibrary.addSearchPath(name, folder)));
        return first("nvrtc", NVRTC);
    }

    /**
     * Returns AMD's, if it is available: a library beside the HIP runtime's, or until ROCm 6 a part of it.
     *
     * @param runtime the file of the runtime
     */
    public static Optional<RuntimeCompiler> hiprtc(String runtime) {
        return first("hiprtc", List.of(runtime.replace("libamdhip64", "libhiprtc"), runtime));
    }

    private static Optional<RuntimeCompiler> first(String prefix, List<String> libraries) {
        for (String library : libraries) {
            try {
                return Optional.of(new RuntimeCompiler(prefix, library));
            } catch (UnsatisfiedLinkError e) {
                // Tries the next one; callers are notified if there is no compiler.
            }
        }
        return Optional.empty();
    }

    /**
     * Compiles a source.
     *
     * @return the code, with the final NUL of PTX
     * @throws IllegalArgumentException with the compiler's log
     */
    public byte[] compile(String source, String... options) {
        long[] program = new long[1];
        check("createProgram", calls.createProgram(program, source, "compose.cu", 0, null, null));
        try {
            int answer = calls.compileProgram(program[0], options.length, options);
            if (answer != 0) {
                throw new IllegalArgumentException(symbol("compileProgram") + " -> " + answer + ": " + log(program[0]));
            }
            long[] bytes = new long[1];
            check("getCodeSize", calls.getCodeSize(program[0], bytes));
            byte[] code = new byte[Math.toIntExact(bytes[0])];
            check("getCode", calls.getCode(program[0], code));
            return code;
        } finally {
            calls.destroyProgram(program);
        }
    }

    private String log(long program) {
        long[] bytes = new long[1];
        calls.getProgramLogSize(program, bytes);
        byte[] log = new byte[Math.toIntExact(bytes[0])];
        calls.getProgramLog(program, log);
        return new String(log, StandardCharsets.UTF_8).trim();
    }

    private void check(String call, int answer) {
        if (answer != 0) {
            throw new IllegalStateException(symbol(call) + " -> " + answer);
        }
    }

    private String symbol(String call) {
        return GpuDriver.symbol(prefix, prefix.equals("nvrtc") ? call.replace("getCode", "getPTX") : call);
    }
}
