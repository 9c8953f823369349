// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ffi;

import io.penstock.engine.kit.ffi.Machine;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Names as C's {@code wchar_t} strings: UTF-16 on Windows, 32 bits per character elsewhere; zero-terminated. */
public final class WideName {

    public static final boolean IS_WINDOWS = Machine.operatingSystem().startsWith("windows");

    private WideName() {}

    /**
     * Returns a name in this system's encoding.
     *
     * @throws IllegalArgumentException if it contains an unpaired surrogate
     */
    public static byte[] of(String name) {
        return IS_WINDOWS ? utf16(name) : utf32(name);
    }

    static byte[] utf16(String name) {
        checkText(name);
        byte[] bytes = name.getBytes(StandardCharsets.UTF_16LE);
        return Arrays.copyOf(bytes, bytes.length + Character.BYTES);
    }

    static byte[] utf32(String name) {
        checkText(name);
        int[] characters = name.codePoints().toArray();
        ByteBuffer bytes =
                ByteBuffer.allocate((characters.length + 1) * Integer.BYTES).order(ByteOrder.nativeOrder());
        bytes.asIntBuffer().put(characters);
        return bytes.array();
    }

    /**
     * Returns a name in UTF-8, for a driver that takes bytes where it declares wide characters. Ends with zeros that
     * end such characters, too.
     *
     * @throws IllegalArgumentException if it contains an unpaired surrogate
     */
    public static byte[] utf8(String name) {
        checkText(name);
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        return Arrays.copyOf(bytes, (bytes.length / Integer.BYTES + 2) * Integer.BYTES);
    }

    private static void checkText(String name) {
        try {
            StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(name));
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("a name must be valid UTF-16, had an unpaired surrogate", e);
        }
    }
}
