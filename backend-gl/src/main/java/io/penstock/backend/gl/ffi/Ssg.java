// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ffi;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.SymbolProvider;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The five functions of AMD's SSG extension for OpenGL. A process has one set of them.
 *
 * <p>A {@code GLfilehandleAMD}, whose width was never published, is a long here: if it has 32 bits, the callee reads
 * only these, and the caller truncates results.
 *
 * <p>None may be called before {@link #load} has succeeded, and only while a context is current.
 */
public final class Ssg {
    public static final int GL_READ_ONLY = 0x88B8;
    public static final int GL_READ_WRITE = 0x88BA;

    private static final List<String> NAMES = List.of(
            "glCreateFileAMD", "glReleaseFileAMD", "glGetFileParameteri64vAMD", "glReadFileAMD", "glWriteFileAMD");

    /** Without RTLD_GLOBAL: the library's exports must not shadow the exports of others. */
    private static final Map<String, Integer> OPEN_FLAGS =
            Wgl.isHere() ? Map.of() : Map.of(Library.OPTION_OPEN_FLAGS, 1); // RTLD_LAZY

    private static Map<String, Long> loaded = Map.of(); // guarded by the class

    // The library of the functions; JNA unloads it once it is unreachable. Guarded by the class.
    @SuppressWarnings("unused")
    private static @Nullable NativeLibrary holder;

    private Ssg() {}

    /**
     * Resolves the functions, unless already done.
     *
     * @param file a library that has them, or an empty string to ask {@code eglGetProcAddress}, or {@code
     *     wglGetProcAddress} in the context that is current
     * @return why there are none, or an empty string
     */
    public static synchronized String load(String file) {
        Map<String, Long> found = new LinkedHashMap<>();
        NativeLibrary library;
        try {
            library = NativeLibrary.getInstance(
                    !file.isEmpty() ? file : Wgl.isHere() ? Gl.file() : Egl.LIBRARY.file(), OPEN_FLAGS);
            for (String name : NAMES) {
                long address = file.isEmpty()
                        ? (Wgl.isHere() ? Wgl.address(name) : Egl.eglGetProcAddress(name))
                        : Pointer.nativeValue(library.getGlobalVariableAddress(name));
                if (address == 0) {
                    return (Wgl.isHere() ? "wglGetProcAddress" : "eglGetProcAddress") + " provides no " + name;
                }
                found.put(name, address);
            }
        } catch (LinkageError e) {
            return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
        }
        if (!loaded.isEmpty()) {
            return loaded.equals(found) ? "" : "this process has already loaded these functions of another library";
        }
        SymbolProvider provider = (handle, symbol, parent) -> found.getOrDefault(symbol, 0L);
        Native.register(
                Ssg.class, NativeLibrary.getInstance(Gl.file(), Map.of(Library.OPTION_SYMBOL_PROVIDER, provider)));
        loaded = found;
        holder = library;
        return "";
    }

    /** Opens a file by its NUL-terminated name in UTF-8; returns 0 on failure. */
    public static native long glCreateFileAMD(byte[] name, int mode);

    public static native void glReleaseFileAMD(long file);

    public static native void glGetFileParameteri64vAMD(long file, int name, long[] value);

    /** Reads blocks of a file into a buffer; sync is 0 for a call that waits, or the address of an in/out GLsync. */
    public static native void glReadFileAMD(
            int buffer, long file, long bufferOffset, long fileOffset, long bytes, long sync);

    /** Writes blocks of a buffer to a file; as {@link #glReadFileAMD}. */
    public static native void glWriteFileAMD(
            int buffer, long file, long bufferOffset, long fileOffset, long bytes, long sync);
}
