// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * GGUF, versions 2 and 3, little-endian. Its dimensions are stored fastest first: the shape of an {@link Array} has them
 * reversed, in row-major order. A file named {@code NAME-00001-of-00003.gguf} is read together with its neighbours.
 *
 * <p>The specification does not define the bytes of the quantized types: they are those of ggml. An array of a type that
 * is not in {@link GgmlType} is described as the bytes up to the next array, with one dimension.
 */
final class GgufReader implements FormatReader {

    static final String FORMAT = "GGUF";

    private static final int MAGIC = 0x46554747; // GGUF
    private static final long DEFAULT_ALIGNMENT = 32;
    private static final int MOST_DIMENSIONS = 4;
    private static final int MOST_KEY_BYTES = 65535;
    private static final int MOST_NAME_BYTES = 128; // 64 in the specification, but some writers are built with 128
    private static final int LEAST_VALUE_BYTES = 8 + 4 + 1; // key, type, value
    private static final int LEAST_ARRAY_BYTES = 8 + 4 + 4 + 8; // name, dimensions, type, offset
    private static final Pattern SHARD = Pattern.compile("(.*)-(\\d{5})-of-(\\d{5})\\.gguf");

    @Override
    public boolean recognizes(Path path, byte[] start) {
        return start.length >= Integer.BYTES
                && new String(start, 0, Integer.BYTES, StandardCharsets.ISO_8859_1).equals("GGUF");
    }

    @Override
    public ArrayFile read(Path path) throws IOException {
        Matcher shard = SHARD.matcher(String.valueOf(path.getFileName()));
        if (!shard.matches()) {
            return readOne(path);
        }
        int shards = Integer.parseInt(shard.group(3));
        int part = Integer.parseInt(shard.group(2));
        if (part == 0 || part > shards) {
            throw new MalformedFileException(path, FORMAT, "its name does not number a part of a model");
        }
        Map<String, String> attributes = new LinkedHashMap<>();
        List<Array> arrays = new ArrayList<>();
        for (int i = 1; i <= shards; i++) {
            String name = String.format(Locale.ROOT, "%s-%05d-of-%s.gguf", shard.group(1), i, shard.group(3));
            ArrayFile file = readPart(path.resolveSibling(name), path);
            String count = file.attributes().getOrDefault("split.count", shards + "");
            if (!count.equals(shards + "")) {
                throw new MalformedFileException(
                        file.path(), FORMAT, "split.count is " + count + ", but its name has " + shards);
            }
            file.attributes().forEach(attributes::putIfAbsent);
            arrays.addAll(file.arrays());
        }
        return file(path, attributes, arrays);
    }

    private static ArrayFile readPart(Path part, Path model) throws IOException {
        try {
            return readOne(part);
        } catch (NoSuchFileException e) {
            throw part.equals(model) ? e : HeaderBytes.missing(part, "it is a part of the model of " + model, e);
        }
    }

    private static ArrayFile readOne(Path path) throws IOException {
        try (HeaderBytes bytes = new HeaderBytes(path, FORMAT)) {
            if (bytes.u32("the magic number") != MAGIC) {
                throw bytes.malformed("it must begin with GGUF");
            }
            long version = bytes.u32("the version");
            if (version != 2 && version != 3) {
                boolean reversed = version != 0 && (version & 0xffff) == 0;
                throw bytes.malformed(
                        reversed
                                ? "it is big-endian, which is not supported"
                                : "version " + version + " is not supported, only 2 and 3 are");
            }
            long arrayCount = bytes.u63("the number of arrays");
            long valueCount = bytes.u63("the number of metadata values");
            Map<String, String> attributes = new LinkedHashMap<>();
            long alignment = values(bytes, valueCount, attributes);
            List<Info> infos = infos(bytes, arrayCount);
            return file(path, attributes, arrays(bytes, path, infos, alignment, attributes));
        }
    }

    private static ArrayFile file(Path path, Map<String, String> attributes, List<Array> arrays) {
        try {
            return new ArrayFile(path, FORMAT, attributes, arrays);
        } catch (IllegalArgumentException e) { // a name twice
            throw new MalformedFileException(path, FORMAT, String.valueOf(e.getMessage()));
        }
    }

    /** Returns the alignment. */
    private static long values(HeaderBytes bytes, long count, Map<String, String> attributes) throws IOException {
        bytes.requireRoomFor(count, LEAST_VALUE_BYTES, "metadata values");
        GgufValues values = new GgufValues(bytes);
        long alignment = DEFAULT_ALIGNMENT;
        for (long i = 0; i < count; i++) {
            String key = name(bytes, MOST_KEY_BYTES, "the key of metadata value " + i);
            long type = bytes.u32("the type of " + key);
            String value = values.value(type, key);
            if (attributes.put(key, value) != null) {
                throw bytes.malformed("it has the key " + key + " twice");
            }
            if (key.equals("general.alignment")) {
                alignment = alignment(bytes, type, value);
            }
        }
        return alignment;
    }

    private static long alignment(HeaderBytes bytes, long type, String value) {
        long alignment = type == GgufValues.UINT32 ? Long.parseLong(value) : 0;
        if (alignment == 0 || alignment % 8 != 0) {
            throw bytes.malformed("general.alignment must be a UINT32, a multiple of 8, was " + value);
        }
        return alignment;
    }

    private static String name(HeaderBytes bytes, int mostBytes, String what) throws IOException {
        long length = bytes.u63("the length of " + what);
        if (length > mostBytes) {
            throw bytes.malformed(what + " has " + length + " bytes, more than " + mostBytes);
        }
        return new String(bytes.bytes((int) length, what), StandardCharsets.UTF_8);
    }

    /** What the file says of an array; the offset counts from the start of the data. */
    private record Info(String name, List<Long> shape, long type, long offset) {}

    private static List<Info> infos(HeaderBytes bytes, long count) throws IOException {
        bytes.requireRoomFor(count, LEAST_ARRAY_BYTES, "descriptions of arrays");
        List<Info> infos = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            String name = name(bytes, MOST_NAME_BYTES, "the name of array " + i);
            long dimensions = bytes.u32("the number of dimensions of " + name);
            if (dimensions > MOST_DIMENSIONS) {
                throw bytes.malformed(
                        "array " + name + " has " + dimensions + " dimensions, more than " + MOST_DIMENSIONS);
            }
            List<Long> shape = new ArrayList<>();
            for (long d = 0; d < dimensions; d++) {
                shape.add(bytes.u63("a dimension of " + name));
            }
            Collections.reverse(shape);
            long type = bytes.u32("the type of " + name);
            infos.add(new Info(name, shape, type, bytes.u63("the offset of " + name)));
        }
        return infos;
    }

    private static List<Array> arrays(
            HeaderBytes bytes, Path path, List<Info> infos, long alignment, Map<String, String> attributes) {
        long padding = (alignment - bytes.position() % alignment) % alignment;
        long start = Math.min(bytes.position() + padding, bytes.length()); // a file without data need not be padded
        long data = bytes.length() - start;
        List<Info> byOffset = new ArrayList<>(infos);
        byOffset.sort((a, b) -> Long.compare(a.offset, b.offset));
        List<Array> arrays = new ArrayList<>();
        long at = 0;
        for (int i = 0; i < byOffset.size(); i++) {
            Info info = byOffset.get(i);
            if (info.offset % alignment != 0) {
                throw bytes.malformed("array " + info.name + " starts at " + info.offset
                        + " of the data, which is no multiple of the alignment " + alignment);
            }
            long limit = i + 1 < byOffset.size() ? Math.min(data, byOffset.get(i + 1).offset) : data;
            Array array = array(bytes, path, info, start, Math.max(0, limit - info.offset), attributes);
            long end = info.offset + array.bytes();
            if (info.offset < at || end < 0 || end > data) {
                throw bytes.malformed("array " + info.name + " lies at [" + info.offset + ", " + end
                        + ") of the data, which is "
                        + (info.offset < at ? "within another array" : "past its end, " + data));
            }
            arrays.add(array);
            at = end;
        }
        return arrays;
    }

    private static Array array(
            HeaderBytes bytes, Path path, Info info, long start, long room, Map<String, String> attributes) {
        try {
            ElementType type = GgmlType.of(info.type);
            List<Long> shape = info.shape;
            if (type == null) {
                type = GgmlType.unknown(info.type);
                attributes.put(info.name + ".shape", shape.toString());
                shape = List.of(room);
            } else if (!shape.isEmpty() && shape.get(shape.size() - 1) % type.blockElements() != 0) {
                throw bytes.malformed("the rows of array " + info.name + ", " + shape + ", are not whole blocks of "
                        + type.blockElements() + " elements of " + type);
            }
            return new Array(
                    info.name,
                    type,
                    shape,
                    ByteOrder.LITTLE_ENDIAN,
                    Array.Order.ROW_MAJOR,
                    new Extent(path, start + info.offset, Array.bytes(type, shape)));
        } catch (IllegalArgumentException e) {
            throw bytes.malformed("array " + info.name + ": " + e.getMessage());
        }
    }
}
