// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.Extent;
import io.penstock.formats.FormatOption;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * NumPy's {@code .npy}: one array, named as the file. Bytes after its data are allowed, since NumPy appends further
 * arrays there and reads the first; their number is an attribute.
 */
public final class NpyReader implements FormatReader {

    private static final String SUFFIX = ".npy";

    @Override
    public boolean recognizes(Path path, byte[] start) {
        return NpyHeader.starts(start) || start.length > 0 && isNamed(String.valueOf(path.getFileName()));
    }

    /** Returns whether a file, or a member of one, has the name of an array. */
    static boolean isNamed(String name) {
        return name.toLowerCase(Locale.ROOT).endsWith(SUFFIX);
    }

    /** Returns a name without its suffix. */
    static String name(String file) {
        return isNamed(file) ? file.substring(0, file.length() - SUFFIX.length()) : file;
    }

    @Override
    public ArrayFile read(Path path, Set<FormatOption> permitted) throws IOException {
        try (HeaderBytes bytes = HeaderBytes.of(path, NpyHeader.FORMAT)) {
            NpyHeader header = NpyHeader.read(bytes);
            long length = header.dataBytes(bytes);
            long start = bytes.position();
            bytes.skip(length, "the data");
            Map<String, String> attributes = new LinkedHashMap<>();
            if (bytes.remaining() > 0) {
                attributes.put("trailing bytes", String.valueOf(bytes.remaining()));
            }
            Array array = header.array(name(String.valueOf(path.getFileName())), new Extent(path, start, length));
            return new ArrayFile(path, NpyHeader.FORMAT, attributes, List.of(array));
        }
    }
}
