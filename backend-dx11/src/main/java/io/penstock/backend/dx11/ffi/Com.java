// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** The methods of every COM object. */
public final class Com {

    static final Vtable UNKNOWN =
            Vtable.of("IUnknown", "00000000-0000-0000-c000-000000000046", "QueryInterface=0 AddRef=1 Release=2");

    static {
        Vtable.bind(Com.class, UNKNOWN);
    }

    private Com() {}

    /** Returns another interface of the object, with a reference that the caller owns; 0 if it does not have it. */
    public static long as(long object, Vtable other) {
        long[] found = new long[1];
        return Hresult.failed(QueryInterface(object, other.id(), found)) ? 0 : found[0];
    }

    public static native int QueryInterface(long object, byte[] id, long[] found);

    /** Returns the count of references, for tests only. */
    public static native int AddRef(long object);

    /** Returns the remaining count of references, for tests only. */
    public static native int Release(long object);
}
