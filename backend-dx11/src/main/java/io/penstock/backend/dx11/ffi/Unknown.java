// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** What every COM object can do. */
public final class Unknown {

    /** Where its methods are. */
    public static final Vtable TABLE =
            Vtable.of("IUnknown", "00000000-0000-0000-c000-000000000046", "QueryInterface=0 AddRef=1 Release=2");

    static {
        TABLE.bind(Unknown.class);
    }

    private Unknown() {}

    /** Returns the object behind another of its interfaces, with a reference of the caller's; 0 if it has not that. */
    public static long as(long object, Vtable other) {
        long[] found = new long[1];
        return Hresult.failed(QueryInterface(object, other.id(), found)) ? 0 : found[0];
    }

    public static native int QueryInterface(long object, byte[] id, long[] found);

    /** Returns the count of references, for tests only. */
    public static native int AddRef(long object);

    /** Returns the count of references that are left, for tests only. */
    public static native int Release(long object);
}
