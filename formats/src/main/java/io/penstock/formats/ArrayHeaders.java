// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The bytes before the data of files that are written. */
final class ArrayHeaders {

    private static final int SAFETENSORS_ALIGNMENT = 4096; // of the data, so that it can be read past the page cache
    private static final int NPY_ALIGNMENT = 64;
    private static final byte[] NPY_MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
    private static final int MOST_SHORT = 0xffff;

    private ArrayHeaders() {}

    /** Returns the header of a safetensors file with these arrays in this order. */
    static ByteBuffer safetensors(Map<String, String> attributes, List<DeviceArray> arrays) {
        Set<String> names = new HashSet<>(Set.of("__metadata__"));
        for (DeviceArray array : arrays) {
            require(
                    names.add(array.name()),
                    array,
                    "cannot have that name, which another one has or the format reserves");
            require(SafetensorsReader.has(array.type()), array, "has a type that safetensors does not have");
            require(
                    array.byteOrder() == ByteOrder.LITTLE_ENDIAN && array.order() == Array.Order.ROW_MAJOR,
                    array,
                    "must be little-endian and row-major, as safetensors demands");
        }
        byte[] json;
        try {
            json = json(attributes, arrays);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        int length = roundUp(Long.BYTES + json.length, SAFETENSORS_ALIGNMENT) - Long.BYTES;
        if (length > SafetensorsReader.MOST_HEADER_BYTES) {
            throw new IllegalArgumentException("a header of " + length + " bytes is longer than safetensors allows");
        }
        ByteBuffer header = ByteBuffer.allocate(Long.BYTES + length).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(length).put(json);
        while (header.hasRemaining()) {
            header.put((byte) ' ');
        }
        return header.flip();
    }

    private static byte[] json(Map<String, String> attributes, List<DeviceArray> arrays) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = new JsonFactory().createGenerator(bytes)) {
            json.writeStartObject();
            if (!attributes.isEmpty()) {
                json.writeObjectFieldStart("__metadata__");
                for (Map.Entry<String, String> attribute : attributes.entrySet()) {
                    json.writeStringField(attribute.getKey(), attribute.getValue());
                }
                json.writeEndObject();
            }
            long end = 0;
            for (DeviceArray array : arrays) {
                json.writeObjectFieldStart(array.name());
                json.writeStringField("dtype", array.type().name());
                numbers(json, "shape", array.shape());
                numbers(json, "data_offsets", List.of(end, end + array.bytes()));
                json.writeEndObject();
                end += array.bytes();
            }
            json.writeEndObject();
        }
        return bytes.toByteArray();
    }

    private static void numbers(JsonGenerator json, String name, List<Long> numbers) throws IOException {
        json.writeArrayFieldStart(name);
        for (long number : numbers) {
            json.writeNumber(number);
        }
        json.writeEndArray();
    }

    /** Returns the header of a .npy file, of version 1 or, if it is long, 2. */
    static ByteBuffer npy(DeviceArray array) {
        String type = NpyTypes.code(array.type());
        if (type == null) {
            throw new IllegalArgumentException("array " + array + " has a type that cannot be written as npy");
        }
        String order = array.type().blockBytes() == 1 ? "|" : array.byteOrder() == ByteOrder.BIG_ENDIAN ? ">" : "<";
        String shape = array.shape().stream().map(extent -> extent + ",").collect(Collectors.joining(" "));
        if (array.shape().size() > 1) {
            shape = shape.substring(0, shape.length() - 1); // Python needs the comma in a tuple of one only
        }
        String text = "{'descr': '" + order + type + "', 'fortran_order': "
                + (array.order() == Array.Order.COLUMN_MAJOR ? "True" : "False") + ", 'shape': (" + shape + "), }";
        int start = NPY_MAGIC.length + 2 + Short.BYTES;
        boolean isLong = roundUp(start + text.length() + 1, NPY_ALIGNMENT) - start > MOST_SHORT;
        start += isLong ? Integer.BYTES - Short.BYTES : 0;
        int total = roundUp(start + text.length() + 1, NPY_ALIGNMENT);
        ByteBuffer header = ByteBuffer.allocate(total).order(ByteOrder.LITTLE_ENDIAN);
        header.put(NPY_MAGIC).put((byte) (isLong ? 2 : 1)).put((byte) 0);
        if (isLong) {
            header.putInt(total - start);
        } else {
            header.putShort((short) (total - start));
        }
        header.put(text.getBytes(StandardCharsets.US_ASCII));
        while (header.remaining() > 1) {
            header.put((byte) ' ');
        }
        return header.put((byte) '\n').flip();
    }

    private static int roundUp(int bytes, int alignment) {
        return Math.addExact(bytes, alignment - 1) / alignment * alignment;
    }

    private static void require(boolean condition, DeviceArray array, String complaint) {
        if (!condition) {
            throw new IllegalArgumentException("array " + array + " " + complaint);
        }
    }
}
