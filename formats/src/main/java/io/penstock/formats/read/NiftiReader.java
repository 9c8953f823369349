// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.Extent;
import io.penstock.formats.NiftiFields;
import io.penstock.formats.codec.Gzip;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * NIfTI-1 and NIfTI-2, a scan in one file: one array, named as the file, whose first dimension varies fastest. Scaling
 * and orientation are attributes; the values are as they are in the file.
 */
public final class NiftiReader implements FormatReader {

    static final String FORMAT = "NIfTI";
    private static final String SUFFIX = ".nii";
    private static final int LEAST_BYTES = 348; // of a header of NIfTI-1

    @Override
    public boolean recognizes(Path path, byte[] start) {
        String name = path.toString().toLowerCase(Locale.ROOT);
        return start.length > 0 && (name.endsWith(SUFFIX) || name.endsWith(SUFFIX + ".gz"))
                // The header of a safetensors file may have 348 or 540 bytes, too.
                || version(ByteBuffer.wrap(start)) > 0 && !FileStart.isSafetensors(start);
    }

    @Override
    public ArrayFile read(Path path) throws IOException {
        try (HeaderBytes bytes = HeaderBytes.of(path, FORMAT)) {
            ByteBuffer start =
                    ByteBuffer.wrap(bytes.bytes((int) Math.min(NiftiFields.MOST_BYTES, bytes.length()), "the header"));
            if (Gzip.starts(start.array())) {
                throw bytes.unsupported(Gzip.WHOLE);
            }
            NiftiFields fields = NiftiFields.parse(path, start);
            bytes.seek(fields.offset(), "the data");
            bytes.skip(fields.bytes(), "the data");
            Array array = new Array(
                    name(path),
                    fields.type(),
                    fields.shape(),
                    fields.byteOrder(),
                    Array.Order.COLUMN_MAJOR,
                    new Extent(path, fields.offset(), fields.bytes()));
            return new ArrayFile(path, FORMAT + "-" + version(start), attributes(fields), List.of(array));
        }
    }

    /** Returns the version whose length of a header the first bytes are, in either byte order; 0 if there is none. */
    private static int version(ByteBuffer start) {
        int length = start.limit() < Integer.BYTES ? 0 : start.getInt(0);
        for (int either : new int[] {length, Integer.reverseBytes(length)}) {
            if (either == LEAST_BYTES || either == NiftiFields.MOST_BYTES) {
                return either == NiftiFields.MOST_BYTES ? 2 : 1;
            }
        }
        return 0;
    }

    private static String name(Path path) {
        String name = String.valueOf(path.getFileName());
        return name.toLowerCase(Locale.ROOT).endsWith(SUFFIX)
                ? name.substring(0, name.length() - SUFFIX.length())
                : name;
    }

    private static Map<String, String> attributes(NiftiFields fields) {
        Map<String, String> attributes = new LinkedHashMap<>();
        if (!fields.description().isEmpty()) {
            attributes.put("description", fields.description());
        }
        attributes.put("spacing", fields.spacing().toString());
        if (fields.slope() != 0) {
            attributes.put("slope", String.valueOf(fields.slope()));
            attributes.put("intercept", String.valueOf(fields.intercept()));
        }
        if (!fields.axes().isEmpty()) {
            attributes.put("axes", fields.axes().toString());
        }
        return attributes;
    }
}
