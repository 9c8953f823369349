// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.ElementType;
import io.penstock.formats.Extent;
import io.penstock.formats.FormatOption;
import io.penstock.formats.MalformedFileException;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * safetensors: a length of 8 bytes, that many bytes of JSON, and the data to the end of the file. The rules are those
 * of the reference implementation ({@code huggingface/safetensors}, {@code tensor.rs}), its limit on the header
 * included.
 */
public final class SafetensorsReader implements FormatReader {

    /** What messages call the format. */
    public static final String FORMAT = "safetensors";

    /** The longest header that the reference implementation takes. */
    public static final long MOST_HEADER_BYTES = 100_000_000;

    static final Map<String, ElementType> TYPES = types();

    static final String PERMIT = "FormatOption.%s of Formats.read, or --lenient, permits that";

    private static Map<String, ElementType> types() {
        Map<String, ElementType> types = new LinkedHashMap<>();
        for (ElementType type : List.of(
                ElementType.BOOL,
                ElementType.I8,
                ElementType.U8,
                ElementType.I16,
                ElementType.U16,
                ElementType.I32,
                ElementType.U32,
                ElementType.I64,
                ElementType.U64,
                ElementType.F16,
                ElementType.BF16,
                ElementType.F32,
                ElementType.F64,
                ElementType.C64,
                // Less than a byte: the smallest number of elements that takes whole bytes.
                new ElementType("F4", 2, 1),
                new ElementType("F6_E2M3", 4, 3),
                new ElementType("F6_E3M2", 4, 3))) {
            types.put(type.name(), type);
        }
        for (String name : List.of("F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ")) {
            types.put(name, ElementType.of(name, 1));
        }
        return Map.copyOf(types);
    }

    /** An entry of the header. The offsets count from the end of the header. */
    private record Entry(
            String name, String typeName, @Nullable ElementType type, List<Long> shape, long begin, long end) {}

    /** Returns whether the format has this type. */
    public static boolean has(ElementType type) {
        return type.equals(TYPES.get(type.name()));
    }

    /** The format has no magic number: a file of another name is taken if it begins with a length and a brace. */
    @Override
    public boolean recognizes(Path path, byte[] start) {
        return path.toString().toLowerCase(Locale.ROOT).endsWith(".safetensors") && start.length > 0
                || FileStart.isSafetensors(start);
    }

    @Override
    public ArrayFile read(Path path, Set<FormatOption> permitted) throws IOException {
        try (HeaderBytes bytes = HeaderBytes.of(path, FORMAT)) {
            long length = bytes.u63("the header's length");
            if (length > MOST_HEADER_BYTES) {
                throw bytes.malformed(
                        "the header's length must be at most " + MOST_HEADER_BYTES + " bytes, was " + length);
            }
            bytes.require(length, "the header"); // before memory is allocated for its arrays
            SafetensorsHeader header = new SafetensorsHeader(path, (int) length, bytes.position() + length);
            byte[] json = bytes.bytes((int) length, "the header", header);
            if (length == 0 || json[0] != '{') {
                throw bytes.malformed("the header must begin with {");
            }
            long start = bytes.position();
            long data = bytes.remaining();
            ArrayFile file = header.file(json, data);
            return file != null ? file : anyFile(path, json, start, data, permitted);
        }
    }

    /** Reads a file with any header, and has the complaint about one that is not valid. */
    static ArrayFile anyFile(Path path, byte[] json, long start, long data, Set<FormatOption> permitted)
            throws IOException {
        Map<String, String> attributes = new LinkedHashMap<>();
        List<Entry> entries = entries(path, unpadded(path, json, permitted), attributes);
        Map<String, String> unsupported = new LinkedHashMap<>();
        List<Array> arrays = arrays(path, entries, unsupported, start, data);
        long end = entries.isEmpty() ? 0 : entries.get(entries.size() - 1).end;
        if (end != data) {
            if (!permitted.contains(FormatOption.TRAILING_BYTES)) {
                throw malformed(
                        path,
                        "the data must end with the last array, at " + end + ", but has " + data + " bytes; "
                                + PERMIT.formatted(FormatOption.TRAILING_BYTES));
            }
            attributes.put("trailing bytes", String.valueOf(data - end));
        }
        return new ArrayFile(path, FORMAT, attributes, arrays, unsupported, Map.of());
    }

    private static List<Entry> entries(Path path, byte[] json, Map<String, String> attributes) throws IOException {
        List<Entry> entries = new ArrayList<>();
        try (StrictJson header = new StrictJson(path, FORMAT, json)) {
            header.document(name -> {
                if (name.equals("__metadata__")) {
                    header.objectOrNull("", name, key -> attributes.put(key, header.string("__metadata__.", key)));
                } else {
                    entries.add(entry(header, name));
                }
            });
        }
        return entries;
    }

    /** Members that the format does not have are skipped, as by the reference implementation. */
    private static Entry entry(StrictJson header, String name) throws IOException {
        String typeName = null;
        List<Long> shape = null;
        List<Long> offsets = null;
        header.begin("array ", name);
        for (String member = header.next(); member != null; member = header.next()) {
            switch (member) {
                case "dtype" -> typeName = header.string("dtype of array ", name);
                case "shape" -> shape = header.numbers("shape of array ", name);
                case "data_offsets" -> offsets = header.numbers("data_offsets of array ", name);
                default -> header.scalarOrSkip();
            }
        }
        if (typeName == null || shape == null || offsets == null) {
            throw header.malformed("array " + name + " must have dtype, shape and data_offsets");
        }
        if (offsets.size() != 2) {
            throw header.malformed("data_offsets of array " + name + " must be 2 numbers, were " + offsets);
        }
        return new Entry(name, typeName, TYPES.get(typeName), shape, offsets.get(0), offsets.get(1));
    }

    /** Checks that the arrays, in the order of their offsets, have no gap or overlap. */
    private static List<Array> arrays(
            Path path, List<Entry> entries, Map<String, String> unsupported, long start, long data) {
        entries.sort(Comparator.comparingLong(Entry::begin).thenComparingLong(Entry::end));
        long at = 0;
        List<Array> arrays = new ArrayList<>(entries.size());
        for (Entry entry : entries) {
            if (entry.begin != at || entry.end < entry.begin) {
                throw malformed(
                        path,
                        "array " + entry.name + " lies at [" + entry.begin + ", " + entry.end
                                + ") of the data, but must start at " + at + ": neither gaps nor overlaps are allowed");
            }
            if (entry.end > data) {
                throw malformed(
                        path,
                        "array " + entry.name + " ends at " + entry.end + " of the data, which has " + data + " bytes");
            }
            long bytes = entry.end - entry.begin;
            if (entry.type == null) {
                unsupported.put(
                        entry.name,
                        "not supported: the dtype " + entry.typeName + ", of shape " + entry.shape + " in " + bytes
                                + " bytes");
            } else {
                arrays.add(array(entry, entry.type, new Extent(path, start + entry.begin, bytes)));
            }
            at = entry.end;
        }
        return arrays;
    }

    /** Returns the header without NUL behind it, if that is permitted. */
    private static byte[] unpadded(Path path, byte[] json, Set<FormatOption> permitted) {
        int end = json.length;
        while (end > 0 && json[end - 1] == 0) {
            end--;
        }
        if (end < json.length && !permitted.contains(FormatOption.NUL_PADDING)) {
            throw malformed(
                    path,
                    "its header ends with " + (json.length - end) + " NUL, where the format has blanks; "
                            + PERMIT.formatted(FormatOption.NUL_PADDING));
        }
        return Arrays.copyOf(json, end);
    }

    private static Array array(Entry entry, ElementType type, Extent extent) {
        try {
            return new Array(entry.name, type, entry.shape, ByteOrder.LITTLE_ENDIAN, Array.Order.ROW_MAJOR, extent);
        } catch (IllegalArgumentException e) {
            throw malformed(extent.file(), "array " + entry.name + ": " + e.getMessage());
        }
    }

    private static MalformedFileException malformed(Path path, String complaint) {
        return new MalformedFileException(path, FORMAT, complaint);
    }
}
