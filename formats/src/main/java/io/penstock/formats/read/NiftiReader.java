// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.Extent;
import io.penstock.formats.FormatOption;
import io.penstock.formats.NiftiFields;
import io.penstock.formats.codec.Codecs;
import io.penstock.formats.codec.Gzip;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * NIfTI-1 and NIfTI-2, a scan in one file: one array, named as the file, whose first dimension varies fastest. Scaling
 * and orientation are attributes; the values are as they are in the file.
 */
public final class NiftiReader implements FormatReader {

    static final String FORMAT = "NIfTI";
    private static final String SUFFIX = ".nii";
    private static final int MOST_OFFSET = 64 << 20; // memory is allocated for what is before the voxels
    private static final int LEAST_BYTES = 348; // of a header of NIfTI-1

    @Override
    public boolean recognizes(Path path, byte[] start) {
        String name = path.toString().toLowerCase(Locale.ROOT);
        return start.length > 0 && (name.endsWith(SUFFIX) || name.endsWith(SUFFIX + ".gz"))
                // The header of a safetensors file may have 348 or 540 bytes, too.
                || version(ByteBuffer.wrap(start)) > 0 && !FileStart.isSafetensors(start);
    }

    @Override
    public ArrayFile read(Path path, Set<FormatOption> permitted) throws IOException {
        try (HeaderBytes bytes = HeaderBytes.of(path, FORMAT)) {
            ByteBuffer start =
                    ByteBuffer.wrap(bytes.bytes((int) Math.min(NiftiFields.MOST_BYTES, bytes.length()), "the header"));
            if (Gzip.starts(start.array())) {
                return compressed(path, bytes, permitted);
            }
            NiftiFields fields = NiftiFields.parse(path, start);
            bytes.seek(fields.offset(), "the data");
            bytes.skip(fields.bytes(), "the data");
            Map<String, String> attributes = attributes(fields);
            String complaint = "it must end with its voxels, at byte " + bytes.position() + ", but has "
                    + bytes.length() + " bytes";
            bytes.trailing(bytes.remaining(), complaint, permitted, attributes);
            return file(path, start, fields, new Extent(path, fields.offset(), fields.bytes()), attributes);
        }
    }

    /** A scan that is compressed as a whole is one chunk, with its header before the voxels. */
    private static ArrayFile compressed(Path path, HeaderBytes bytes, Set<FormatOption> permitted) throws IOException {
        ByteBuffer start;
        try (InputStream file = Files.newInputStream(path);
                InputStream in = new GZIPInputStream(file)) { // which throws where the header is damaged
            start = ByteBuffer.wrap(in.readNBytes(NiftiFields.MOST_BYTES));
        } catch (ZipException | EOFException e) {
            throw bytes.malformed("gzip: " + e.getMessage());
        }
        NiftiFields fields = NiftiFields.parse(path, start);
        if (fields.offset() > MOST_OFFSET) {
            throw bytes.unsupported("its voxels start at byte " + fields.offset() + ", after more than " + MOST_OFFSET);
        }
        long end = fields.offset() + fields.bytes();
        String complaint = permitted.contains(FormatOption.TRAILING_BYTES)
                ? ""
                : "it must end with its voxels, at byte " + end + ", but goes on; "
                        + SafetensorsReader.PERMIT.formatted(FormatOption.TRAILING_BYTES);
        Array.ChunkData chunk = new Array.ChunkData(
                Collections.nCopies(fields.shape().size(), 0L),
                new Extent(path, 0, bytes.length()),
                List.of(Codecs.header(fields.offset()), Codecs.gzip(end, complaint)));
        Array.Data data = new Array.Data.Chunked(fields.shape(), List.of(), List.of(chunk), List.of());
        return file(path, start, fields, data, attributes(fields));
    }

    private static ArrayFile file(
            Path path, ByteBuffer start, NiftiFields fields, Array.Data data, Map<String, String> attributes) {
        Array array = new Array(
                name(path), fields.type(), fields.shape(), fields.byteOrder(), Array.Order.COLUMN_MAJOR, data);
        return new ArrayFile(path, FORMAT + "-" + version(start), attributes, List.of(array));
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
        String name = String.valueOf(path.getFileName()).replaceFirst("(?i)\\.gz$", "");
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
