// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Paths as the kernel takes them: bytes, and a zero byte.
 *
 * <p>The JDK turns these bytes into text by the encoding of the locale. Bytes that have no meaning in it, such as all
 * beyond ASCII in {@code LC_ALL=C}, are replacement characters there; the URI of a path has the bytes themselves.
 */
public final class PathName {

    private PathName() {}

    /** Returns the bytes of a path of Unix. */
    public static byte[] of(Path path) {
        byte[] text = path.toString().getBytes(StandardCharsets.UTF_8);
        for (byte octet : text) {
            if (octet < 0) {
                return unescaped(path.toUri().getRawPath());
            }
        }
        return Arrays.copyOf(text, text.length + 1); // ASCII is the same in every locale
    }

    private static byte[] unescaped(String uriPath) {
        int end = uriPath.length() - (uriPath.endsWith("/") ? 1 : 0); // which a directory's has
        ByteArrayOutputStream name = new ByteArrayOutputStream(end + 1);
        for (int at = 0; at < end; at++) {
            char c = uriPath.charAt(at);
            name.write(c == '%' ? Integer.parseInt(uriPath, at + 1, at + 3, 16) : c);
            at += c == '%' ? 2 : 0;
        }
        name.write(0);
        return name.toByteArray();
    }
}
