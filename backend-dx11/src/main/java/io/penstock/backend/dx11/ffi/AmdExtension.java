// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/**
 * {@code IAmdDxExt}, by AMD's public headers ({@code AmdDxExtIface.hpp}, {@code AmdDxExtApi.hpp}). It is not a COM
 * object: its first table entries are AddRef, Release and one destructor, as Microsoft's compiler lays the class out.
 */
public final class AmdExtension {

    /** The table of its methods. */
    public static final Vtable TABLE = Vtable.of("IAmdDxExt", "Release=1 GetExtInterface=4");

    static {
        TABLE.bind(AmdExtension.class);
    }

    private AmdExtension() {}

    public static native int Release(long extension);

    /** Returns an interface of the extension, with a reference that the caller owns; 0 if there is none. */
    public static native long GetExtInterface(long extension, int id);
}
