// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Random;

/** Files of arrays, by hand. */
final class Samples {

    private Samples() {}

    static byte[] bytes(int seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** Writes a safetensors file of arrays of bytes. */
    static Path safetensors(Path file, Map<String, byte[]> arrays) throws IOException {
        StringBuilder header = new StringBuilder("{");
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        for (Map.Entry<String, byte[]> array : arrays.entrySet()) {
            int start = data.size();
            data.write(array.getValue());
            header.append(header.length() == 1 ? "" : ",")
                    .append("\"%s\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[%d,%d]}"
                            .formatted(array.getKey(), array.getValue().length, start, data.size()));
        }
        return write(file, header.append("}").toString(), data.toByteArray());
    }

    /** Writes a sparse safetensors file of one array. */
    static Path sparse(Path file, String name, long length) throws IOException {
        String header =
                "{\"%s\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[0,%d]}}".formatted(name, length, length);
        write(file, header, new byte[0]);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {7}), channel.size() + length - 1);
        }
        return file;
    }

    private static Path write(Path file, String header, byte[] data) throws IOException {
        byte[] text = header.getBytes(StandardCharsets.UTF_8);
        ByteBuffer all = ByteBuffer.allocate(8 + text.length + data.length).order(ByteOrder.LITTLE_ENDIAN);
        all.putLong(text.length).put(text).put(data);
        return Files.write(file, all.array());
    }

    /** Writes an array of Zarr of two chunks of 4 bytes, 1 to 8. */
    static Path zarr(Path directory) throws IOException {
        Files.createDirectories(directory.resolve("c"));
        Files.writeString(directory.resolve("zarr.json"), """
                {"zarr_format": 3, "node_type": "array", "shape": [8], "data_type": "uint8",
                 "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
                 "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                 "fill_value": 0, "codecs": [{"name": "bytes"}], "attributes": {}}
                """);
        Files.write(directory.resolve("c/0"), new byte[] {1, 2, 3, 4});
        Files.write(directory.resolve("c/1"), new byte[] {5, 6, 7, 8});
        return directory;
    }
}
