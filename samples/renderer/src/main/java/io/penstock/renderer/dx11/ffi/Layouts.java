// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.dx11.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;

/** Memory that is used only during a call. */
public final class Layouts {

    private static final int ELEMENT_BYTES = 32;
    private static final int DXGI_FORMAT_R32G32B32_FLOAT = 6;
    private static final int DXGI_FORMAT_R32G32_FLOAT = 16;

    private Layouts() {}

    /** Creates an input layout: two floats of {@code POSITION}, then three of {@code TEXCOORD}. */
    public static long inputLayout(long device, byte[] vertexShader) {
        try (Memory names = new Memory(32);
                Memory elements = new Memory(2 * ELEMENT_BYTES)) {
            names.setString(0, "POSITION");
            names.setString(16, "TEXCOORD");
            element(elements, names.share(0), DXGI_FORMAT_R32G32_FLOAT, 0);
            element(elements.share(ELEMENT_BYTES), names.share(16), DXGI_FORMAT_R32G32B32_FLOAT, 2 * Float.BYTES);
            return Method.CREATE_INPUT_LAYOUT.make(
                    device, Pointer.nativeValue(elements), 2, vertexShader, (long) vertexShader.length);
        }
    }

    // D3D11_INPUT_ELEMENT_DESC: name, its index, format, slot, offset, class, step.
    private static void element(Pointer at, Pointer name, int format, int offset) {
        at.clear(ELEMENT_BYTES);
        at.setPointer(0, name);
        at.setInt(12, format);
        at.setInt(20, offset);
    }

    /** Creates a buffer that starts with the given floats. */
    public static long buffer(long device, int bind, float[] content) {
        int bytes = content.length * Float.BYTES;
        int[] description = {bytes, 0, bind, 0, 0, 0};
        try (Memory floats = new Memory(bytes);
                Memory initial = new Memory(16)) {
            floats.write(0, content, 0, content.length);
            initial.clear();
            initial.setPointer(0, floats);
            return Method.CREATE_BUFFER.make(device, description, Pointer.nativeValue(initial));
        }
    }

    /** Reads rows of floats out of a staging texture, waiting for earlier commands of the device. */
    public static void read(long context, long texture, float[] into, int columns) {
        try (Memory mapped = new Memory(16)) {
            Method.MAP.check(Method.MAP.call(context, texture, 0, 1, 0, Pointer.nativeValue(mapped)));
            Pointer rows = mapped.getPointer(0);
            long pitch = mapped.getInt(8);
            for (int row = 0; row < into.length / columns; row++) {
                rows.read(row * pitch, into, row * columns, columns);
            }
            Method.UNMAP.call(context, texture, 0);
        }
    }
}
