// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code IDXGIFactory1}. */
public final class DxgiFactory1 {

    /** The table of its methods. */
    public static final Vtable TABLE =
            Vtable.of("IDXGIFactory1", "770aae78-f26f-4dba-a829-253c83d1b387", "EnumAdapters1=12");

    static {
        TABLE.bind(DxgiFactory1.class);
    }

    private DxgiFactory1() {}

    public static native int EnumAdapters1(long factory, int index, long[] adapter);
}
