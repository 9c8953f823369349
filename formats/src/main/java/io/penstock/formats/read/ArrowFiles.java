// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.ArrayFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Arrow's files, read by {@link ArrowReader} where the library is that it needs. */
public final class ArrowFiles implements FormatReader {

    /** What messages call the format. */
    public static final String FORMAT = "Arrow";

    private static final int MAGIC_BYTES = 6;

    @Override
    public boolean recognizes(Path path, byte[] start) {
        String text = new String(start, 0, Math.min(start.length, MAGIC_BYTES), StandardCharsets.ISO_8859_1);
        return text.equals("ARROW1") || text.startsWith("FEA1");
    }

    @Override
    public ArrayFile read(Path path) throws IOException {
        try {
            return new ArrowReader().read(path);
        } catch (NoClassDefFoundError e) {
            throw new IllegalStateException(
                    "Arrow's files need org.apache.arrow:arrow-format, which is not on the class path", e);
        }
    }
}
