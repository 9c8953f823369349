// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

/** Writes safetensors files with random data, without padding, so that arrays start at any offset. */
final class SafetensorsFile {

    private static final Path NOWHERE = Path.of("nowhere");

    private SafetensorsFile() {}

    /** Describes an array of bytes, to be written. */
    static Array bytes(String name, long length) {
        return array(name, ElementType.U8, List.of(length));
    }

    static Array array(String name, ElementType type, List<Long> shape) {
        return new Array(
                name,
                type,
                shape,
                ByteOrder.LITTLE_ENDIAN,
                Array.Order.ROW_MAJOR,
                new Extent(NOWHERE, 0, Array.bytes(type, shape)));
    }

    static Path write(Path file, List<Array> arrays) throws IOException {
        StringBuilder header = new StringBuilder("{");
        int end = 0;
        for (Array array : arrays) {
            String shape = array.shape().stream().map(String::valueOf).collect(Collectors.joining(","));
            header.append(end > 0 || header.length() > 1 ? "," : "")
                    .append("\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%d,%d]}"
                            .formatted(array.name(), array.type(), shape, end, end + array.bytes()));
            end += Math.toIntExact(array.bytes());
        }
        byte[] json = header.append('}').toString().getBytes(StandardCharsets.UTF_8);
        byte[] data = new byte[end];
        new Random(end).nextBytes(data);
        ByteBuffer bytes = ByteBuffer.allocate(8 + json.length + end).order(ByteOrder.LITTLE_ENDIAN);
        return Files.write(file, bytes.putLong(json.length).put(json).put(data).array());
    }
}
