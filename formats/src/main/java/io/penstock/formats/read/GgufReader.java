// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.ElementType;
import io.penstock.formats.Extent;
import io.penstock.formats.FormatOption;
import io.penstock.formats.MalformedFileException;
import java.io.IOException;
import java.nio.ByteBuffer;
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
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * GGUF, versions 2 and 3, little-endian. Its dimensions are stored fastest first: the shape of an {@link Array} has
 * them reversed, in row-major order. A file named {@code NAME-00001-of-00003.gguf} is read together with its
 * neighbours.
 *
 * <p>The specification does not define the bytes of the quantized types: ggml defines them. An array of a type
 * that is not in {@link GgmlType} is described as the bytes up to the next array, with one dimension.
 */
public final class GgufReader implements FormatReader {

    /** What messages call the format. */
    public static final String FORMAT = "GGUF";

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
    public ArrayFile read(Path path, Set<FormatOption> permitted) throws IOException {
        Matcher shard = SHARD.matcher(String.valueOf(path.getFileName()));
        if (!shard.matches()) {
            ArrayFile file = readOne(path);
            checkSplit(file, 0, 1, file.arrays().size());
            return file;
        }
        int shards = Integer.parseInt(shard.group(3));
        int part = Integer.parseInt(shard.group(2));
        if (part == 0 || part > shards) {
            throw new MalformedFileException(path, FORMAT, "its name does not number a part of a model");
        }
        Map<String, String> attributes = new LinkedHashMap<>();
        List<Array> arrays = new ArrayList<>();
        List<Callable<ArrayFile>> parts = new ArrayList<>();
        for (int i = 1; i <= shards; i++) {
            String name = String.format(Locale.ROOT, "%s-%05d-of-%s.gguf", shard.group(1), i, shard.group(3));
            parts.add(() -> readPart(path.resolveSibling(name), path));
        }
        List<ArrayFile> files = Headers.read(parts);
        for (ArrayFile file : files) {
            file.attributes().forEach(attributes::putIfAbsent);
            arrays.addAll(file.arrays());
        }
        for (int i = 0; i < shards; i++) {
            checkSplit(files.get(i), i, shards, arrays.size());
        }
        return file(path, attributes, arrays);
    }

    /** Compares what a part states of the whole with what is there. */
    private static void checkSplit(ArrayFile part, int number, int parts, int arrays) {
        Map<String, String> said = part.attributes();
        String count = said.getOrDefault("split.count", "0"); // 0 of a model whose parts were joined
        if (!count.equals("0") && !count.equals(String.valueOf(parts))) {
            throw new MalformedFileException(
                    part.path(),
                    FORMAT,
                    "split.count is " + count + ", but by its name it is "
                            + (parts == 1 ? "a model in one file" : "one of " + parts + " parts"));
        }
        if (!count.equals("0")) {
            expect(part, "split.no", number, "by its name");
        }
        expect(part, "split.tensors.count", arrays, "in its files");
    }

    private static void expect(ArrayFile part, String key, int number, String where) {
        String said = part.attributes().getOrDefault(key, String.valueOf(number));
        if (!said.equals(String.valueOf(number))) {
            throw new MalformedFileException(
                    part.path(), FORMAT, key + " is " + said + ", but " + number + " " + where);
        }
    }

    private static ArrayFile readPart(Path part, Path model) throws IOException {
        try {
            return readOne(part);
        } catch (NoSuchFileException e) {
            throw part.equals(model) ? e : HeaderBytes.missing(part, "it is a part of the model of " + model, e);
        }
    }

    private static ArrayFile readOne(Path path) throws IOException {
        try (HeaderBytes bytes = HeaderBytes.of(path, FORMAT)) {
            if (bytes.u32("the magic number") != MAGIC) {
                throw bytes.malformed("it must begin with GGUF");
            }
            long version = bytes.u32("the version");
            if (version != 2 && version != 3) {
                boolean reversed = version != 0 && (version & 0xffff) == 0;
                throw bytes.unsupported(
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
        Values values = new Values(bytes);
        long alignment = DEFAULT_ALIGNMENT;
        for (long i = 0; i < count; i++) {
            String key = name(bytes, MOST_KEY_BYTES, "the key of metadata value " + i);
            if (key.isEmpty()) {
                throw bytes.malformed("the key of metadata value " + i + " must have at least 1 byte");
            }
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
        long alignment = type == Values.UINT32 ? Long.parseLong(value) : 0;
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

    /** What the file states of an array; the offset counts from the start of the data. */
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
                attributes.put(info.name + ".type", "type " + info.type + " of ggml: " + GgmlType.story(info.type));
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

    /**
     * The values of a GGUF file's metadata, as text. Long arrays and texts are abbreviated; what is left out is skipped
     * in the file, not read.
     */
    private static final class Values {

        static final int UINT32 = 4;
        static final int STRING = 8;
        static final int ARRAY = 9;

        private static final int BOOL = 7;
        private static final int MOST_SHOWN = 16; // elements of an array
        private static final int MOST_DEPTH = 8; // of arrays in arrays; the specification has no limit
        private static final int MOST_TEXT = 1 << 16; // bytes of a text

        /** The bytes of a value of each type; 0 for texts and arrays. */
        private static final List<Integer> SIZES = List.of(1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8);

        private final HeaderBytes bytes;

        Values(HeaderBytes bytes) {
            this.bytes = bytes;
        }

        /** Reads a value of a type and returns it as text. */
        String value(long type, String what) throws IOException {
            return value(type, what, 0);
        }

        private String value(long type, String what, int depth) throws IOException {
            if (type >= SIZES.size()) {
                throw bytes.malformed(what + " has the unknown type " + type);
            }
            if (type == STRING) {
                return text(what);
            }
            return type == ARRAY ? array(what, depth) : scalar((int) type, what);
        }

        private String scalar(int type, String what) throws IOException {
            ByteBuffer in = bytes.next(SIZES.get(type), what);
            return switch (type) {
                case 0 -> String.valueOf(in.get() & 0xff);
                case 1 -> String.valueOf(in.get());
                case 2 -> String.valueOf(in.getShort() & 0xffff);
                case 3 -> String.valueOf(in.getShort());
                case UINT32 -> Integer.toUnsignedString(in.getInt());
                case 5 -> String.valueOf(in.getInt());
                case 6 -> String.valueOf(in.getFloat());
                case BOOL -> flag(in.get(), what);
                case 10 -> Long.toUnsignedString(in.getLong());
                case 11 -> String.valueOf(in.getLong());
                default -> String.valueOf(in.getDouble());
            };
        }

        private String flag(byte value, String what) {
            if (value != 0 && value != 1) {
                throw bytes.malformed(what + " must be 0 or 1, as a boolean, was " + (value & 0xff));
            }
            return String.valueOf(value == 1);
        }

        private String text(String what) throws IOException {
            long length = bytes.u63("the length of " + what);
            bytes.requireRoomFor(length, 1, what);
            int kept = (int) Math.min(length, MOST_TEXT);
            String text = new String(bytes.bytes(kept, what), StandardCharsets.UTF_8);
            bytes.skip(length - kept, what);
            return kept < length ? text + "... (" + length + " bytes)" : text;
        }

        private String array(String what, int depth) throws IOException {
            if (depth == MOST_DEPTH) {
                throw bytes.malformed(what + " has arrays in arrays, more than " + MOST_DEPTH + " deep");
            }
            long type = bytes.u32("the type of the elements of " + what);
            long count = bytes.u63("the number of elements of " + what);
            if (type >= SIZES.size()) {
                throw bytes.malformed(what + " has elements of the unknown type " + type);
            }
            int size = SIZES.get((int) type);
            bytes.requireRoomFor(count, size > 0 ? size : Long.BYTES, "elements of " + what);
            StringJoiner text = new StringJoiner(", ", "[", "]");
            long shown = Math.min(count, MOST_SHOWN);
            for (long i = 0; i < shown; i++) {
                text.add(value(type, what, depth + 1));
            }
            if (shown < count) {
                text.add("... (" + count + " elements)");
                skip(type, count - shown, what, depth);
            }
            return text.toString();
        }

        private void skip(long type, long count, String what, int depth) throws IOException {
            int size = SIZES.get((int) type);
            if (size > 0) {
                bytes.skip(count * size, what); // checked before
                return;
            }
            for (long i = 0; i < count; i++) {
                if (type == STRING) {
                    bytes.skip(bytes.u63("the length of " + what), what);
                } else {
                    array(what, depth + 1);
                }
            }
        }
    }
}
