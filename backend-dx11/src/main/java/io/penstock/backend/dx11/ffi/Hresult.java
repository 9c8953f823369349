// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** The numbers of {@code HRESULT}, and their names. */
public final class Hresult {
    public static final int S_OK = 0;
    public static final int S_FALSE = 1;
    public static final int E_NOINTERFACE = 0x80004002;
    public static final int E_FAIL = 0x80004005;
    public static final int E_OUTOFMEMORY = 0x8007000e;
    public static final int E_INVALIDARG = 0x80070057;
    public static final int DXGI_ERROR_NOT_FOUND = 0x887a0002;
    public static final int DXGI_ERROR_DEVICE_REMOVED = 0x887a0005;
    public static final int DXGI_ERROR_DEVICE_HUNG = 0x887a0006;
    public static final int DXGI_ERROR_DEVICE_RESET = 0x887a0007;
    public static final int DXGI_ERROR_DRIVER_INTERNAL_ERROR = 0x887a0020;
    public static final int D3DDDIERR_DEVICEREMOVED = 0x88760870;

    /** Copied from winerror.h and d3d11.h, so that a number has a name on other systems too. */
    private static final Map<Integer, String> SYMBOLS = Arrays.stream(
                    """
            00000000=S_OK 00000001=S_FALSE 80004001=E_NOTIMPL 80004002=E_NOINTERFACE 80004003=E_POINTER
            80004004=E_ABORT 80004005=E_FAIL 8000ffff=E_UNEXPECTED 80070005=E_ACCESSDENIED 80070006=E_HANDLE
            8007000e=E_OUTOFMEMORY 80070057=E_INVALIDARG
            887a0001=DXGI_ERROR_INVALID_CALL 887a0002=DXGI_ERROR_NOT_FOUND 887a0003=DXGI_ERROR_MORE_DATA
            887a0004=DXGI_ERROR_UNSUPPORTED 887a0005=DXGI_ERROR_DEVICE_REMOVED 887a0006=DXGI_ERROR_DEVICE_HUNG
            887a0007=DXGI_ERROR_DEVICE_RESET 887a000a=DXGI_ERROR_WAS_STILL_DRAWING
            887a000b=DXGI_ERROR_FRAME_STATISTICS_DISJOINT 887a0020=DXGI_ERROR_DRIVER_INTERNAL_ERROR
            887a0021=DXGI_ERROR_NONEXCLUSIVE 887a0022=DXGI_ERROR_NOT_CURRENTLY_AVAILABLE
            887a0023=DXGI_ERROR_REMOTE_CLIENT_DISCONNECTED 887a0024=DXGI_ERROR_REMOTE_OUTOFMEMORY
            887a002d=DXGI_ERROR_SDK_COMPONENT_MISSING
            887c0001=D3D11_ERROR_TOO_MANY_UNIQUE_STATE_OBJECTS 887c0002=D3D11_ERROR_FILE_NOT_FOUND
            887c0003=D3D11_ERROR_TOO_MANY_UNIQUE_VIEW_OBJECTS
            887c0004=D3D11_ERROR_DEFERRED_CONTEXT_MAP_WITHOUT_INITIAL_DISCARD
            88760870=D3DDDIERR_DEVICEREMOVED
            """.strip().split("\\s+"))
            .map(entry -> entry.split("="))
            .collect(Collectors.toUnmodifiableMap(entry -> Integer.parseUnsignedInt(entry[0], 16), entry -> entry[1]));

    private Hresult() {}

    /** Returns true if a call failed. */
    public static boolean failed(int result) {
        return result < 0;
    }

    /**
     * Returns the name of a result, {@code E_INVALIDARG} for 0x80070057; an empty string if it does not have one here.
     */
    public static String symbol(int result) {
        return SYMBOLS.getOrDefault(result, "");
    }

    /** Returns the name and the number; only the number if it does not have a name. */
    public static String describe(int result) {
        String number = "0x" + Integer.toHexString(result);
        String symbol = symbol(result);
        return symbol.isEmpty() ? number : symbol + " (" + number + ")";
    }
}
