// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.ArrayFile;
import io.penstock.formats.FormatOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Set;

/** Arrow's files and streams, read by {@link ArrowReader} where the library is that it needs. */
public final class ArrowFiles implements FormatReader {

    /** What messages call the format. */
    public static final String FORMAT = "Arrow";

    private static final int MAGIC_BYTES = 6;
    private static final int LEAST_STREAM = 12;

    @Override
    public boolean recognizes(Path path, byte[] start) {
        String text = new String(start, 0, Math.min(start.length, MAGIC_BYTES), StandardCharsets.ISO_8859_1);
        return text.equals("ARROW1") || text.startsWith("FEA1") || isStream(start);
    }

    /** A stream begins with a mark, the length of a message, and the place of a table in it. */
    private static boolean isStream(byte[] start) {
        if (start.length < LEAST_STREAM) {
            return false;
        }
        ByteBuffer bytes = ByteBuffer.wrap(start).order(ByteOrder.LITTLE_ENDIAN);
        int length = bytes.getInt(4);
        return bytes.getInt(0) == -1 && length > 0 && bytes.getInt(8) > 0 && bytes.getInt(8) < length;
    }

    @Override
    public ArrayFile read(Path path, Set<FormatOption> permitted) throws IOException {
        try {
            return new ArrowReader().read(path, permitted);
        } catch (NoClassDefFoundError e) {
            throw new IllegalStateException(
                    "Arrow's files need org.apache.arrow:arrow-format, which is not on the class path", e);
        }
    }
}
