// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.dx11.ffi;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;

/** {@code d3dcompiler_47.dll}, which comes with Windows and with Wine. */
public final class ShaderCompiler {

    static {
        Native.register(ShaderCompiler.class, NativeLibrary.getInstance("d3dcompiler_47"));
    }

    private ShaderCompiler() {}

    private static native int D3DCompile(
            byte[] source,
            long bytes,
            String name,
            long macros,
            long include,
            String entry,
            String target,
            int flags,
            int moreFlags,
            long[] code,
            long[] messages);

    /**
     * Compiles a function.
     *
     * @param target such as {@code ps_4_0}
     * @throws IllegalStateException with the compiler's log
     */
    public static byte[] compile(String source, String entry, String target) {
        byte[] text = source.getBytes(StandardCharsets.US_ASCII);
        long[] code = new long[1];
        long[] messages = new long[1];
        int answer = D3DCompile(text, text.length, entry, 0, 0, entry, target, 0, 0, code, messages);
        byte[] log = taken(messages[0]);
        if (answer < 0) {
            throw new IllegalStateException("D3DCompile of " + entry + " for " + target + " -> 0x"
                    + Integer.toHexString(answer) + ": " + new String(log, StandardCharsets.UTF_8).strip());
        }
        return taken(code[0]);
    }

    private static byte[] taken(long blob) {
        if (blob == 0) {
            return new byte[0];
        }
        long bytes = Method.GET_BUFFER_SIZE.address(blob);
        byte[] content = new Pointer(Method.GET_BUFFER_POINTER.address(blob)).getByteArray(0, (int) bytes);
        Method.RELEASE.call(blob);
        return content;
    }
}
