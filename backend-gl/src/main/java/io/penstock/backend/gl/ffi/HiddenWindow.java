// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ffi;

import com.sun.jna.Native;
import com.sun.jna.WString;
import io.penstock.NativeError;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.ffi.VendorLibrary;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A window of Windows that is never shown, whose device context has a pixel format for OpenGL: WGL creates contexts
 * only for windows.
 *
 * <p><b>Threading:</b> opened and closed on one thread, as Windows requires; the device context may be used on any.
 */
public final class HiddenWindow implements AutoCloseable {

    private static final int WS_POPUP = 0x80000000;
    private static final int PFD_BYTES = 40;
    private static final int PFD_DRAW_TO_WINDOW = 0x4;
    private static final int PFD_SUPPORT_OPENGL = 0x20;
    private static final int COLOR_BITS_AT = 9;

    private static final VendorLibrary USER = new VendorLibrary(User32.class, "user32.dll", List.of(), 0);
    private static final VendorLibrary GDI = new VendorLibrary(Gdi32.class, "gdi32.dll", List.of(), 0);

    private final long window;
    private final long dc;
    private @Nullable NativeError failure;

    private HiddenWindow(long window, long dc) {
        this.window = window;
        this.dc = dc;
    }

    /** Opens a window; {@link #failure} returns null if it can be used. Close it in either case. */
    public static HiddenWindow open() {
        USER.load("");
        GDI.load("");
        // A predefined window class: its windows need no window procedure here.
        long window = User32.CreateWindowExW(
                0, new WString("STATIC"), new WString("penstock"), WS_POPUP, 0, 0, 1, 1, 0, 0, 0, 0);
        HiddenWindow made = new HiddenWindow(window, window == 0 ? 0 : User32.GetDC(window));
        made.failure = window == 0 ? error("CreateWindowEx") : made.dc == 0 ? error("GetDC") : made.format();
        return made;
    }

    private @Nullable NativeError format() {
        ByteBuffer wanted = ByteBuffer.allocateDirect(PFD_BYTES).order(ByteOrder.nativeOrder());
        wanted.putShort(0, (short) PFD_BYTES).putShort(2, (short) 1);
        wanted.putInt(4, PFD_DRAW_TO_WINDOW | PFD_SUPPORT_OPENGL);
        wanted.put(COLOR_BITS_AT, (byte) 24);
        int format = Gdi32.ChoosePixelFormat(dc, NativeMemory.address(wanted));
        if (format == 0) {
            return error("ChoosePixelFormat");
        }
        return Gdi32.SetPixelFormat(dc, format, NativeMemory.address(wanted)) == 0 ? error("SetPixelFormat") : null;
    }

    /** Returns the Windows error of the call that failed on this thread. */
    private static NativeError error(String call) {
        int code = Native.getLastError();
        return new NativeError(call, code, "error " + code);
    }

    /** Returns why it cannot be used; null if it can. */
    public @Nullable NativeError failure() {
        return failure;
    }

    /** Returns its HDC. */
    public long dc() {
        return dc;
    }

    @Override
    public void close() {
        if (dc != 0) {
            User32.ReleaseDC(window, dc);
        }
        if (window != 0) {
            User32.DestroyWindow(window);
        }
    }

    /** The functions of user32.dll. */
    static final class User32 {

        private User32() {}

        static native long CreateWindowExW(
                int extended,
                WString windowClass,
                WString name,
                int style,
                int x,
                int y,
                int width,
                int height,
                long parent,
                long menu,
                long instance,
                long parameter);

        static native int DestroyWindow(long window);

        static native long GetDC(long window);

        static native int ReleaseDC(long window, long dc);
    }

    /** The functions of gdi32.dll. */
    static final class Gdi32 {

        private Gdi32() {}

        static native int ChoosePixelFormat(long dc, long descriptor);

        static native int SetPixelFormat(long dc, int format, long descriptor);
    }
}
