// SPDX-License-Identifier: Apache-2.0
package com.example.spark;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;

/** Scans and a model for users who have none: .npy volumes of balls in noise, and shards of safetensors. */
final class SampleData {

    private static final int EDGE = 128;

    private SampleData() {}

    /** Writes volumes of 4 MiB. */
    static Path scans(Path folder, int count) throws IOException {
        Files.createDirectories(folder);
        byte[] text = ("{'descr': '<u2', 'fortran_order': False, 'shape': (" + EDGE + ", " + EDGE + ", " + EDGE
                        + "), }")
                .getBytes(StandardCharsets.US_ASCII);
        for (int scan = 0; scan < count; scan++) {
            ByteBuffer npy = ByteBuffer.allocate(128 + 2 * EDGE * EDGE * EDGE).order(ByteOrder.LITTLE_ENDIAN);
            npy.put((byte) 0x93)
                    .put("NUMPY".getBytes(StandardCharsets.US_ASCII))
                    .put((byte) 1)
                    .put((byte) 0);
            npy.putShort((short) 118).put(text);
            while (npy.position() < 127) {
                npy.put((byte) ' ');
            }
            npy.put((byte) '\n');
            Random random = new Random(scan);
            for (int z = 0; z < EDGE; z++) {
                for (int y = 0; y < EDGE; y++) {
                    for (int x = 0; x < EDGE; x++) {
                        npy.putShort((short) (random.nextInt(2000) + 4000 * balls(scan, x, y, z)));
                    }
                }
            }
            Files.write(folder.resolve("scan-" + scan + ".npy"), npy.array());
        }
        return folder;
    }

    /** Returns in how many of three balls a voxel lies. */
    private static int balls(int scan, int x, int y, int z) {
        int found = 0;
        for (int ball = 1; ball <= 3; ball++) {
            int dx = x - (37 * ball + 11 * scan) % EDGE;
            int dy = y - (53 * ball + 5 * scan) % EDGE;
            int dz = z - 29 * ball % EDGE;
            found += dx * dx + dy * dy + dz * dz < 600 * ball ? 1 : 0;
        }
        return found;
    }

    /** Writes shards of 16 MiB, each with four tensors of normally distributed numbers. */
    static Path model(Path folder, int shards) throws IOException {
        Files.createDirectories(folder);
        int bytes = 4 << 20;
        for (int shard = 0; shard < shards; shard++) {
            StringBuilder header = new StringBuilder("{");
            for (int i = 0; i < 4; i++) {
                header.append(i == 0 ? "" : ",").append("\"layer.").append(4 * shard + i);
                header.append(".weight\":{\"dtype\":\"F32\",\"shape\":[1024,1024],\"data_offsets\":[");
                header.append((long) i * bytes)
                        .append(',')
                        .append((i + 1L) * bytes)
                        .append("]}");
            }
            byte[] json = header.append('}').toString().getBytes(StandardCharsets.US_ASCII);
            Path file = folder.resolve("model-%05d-of-%05d.safetensors".formatted(shard + 1, shards));
            try (FileChannel channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
                channel.write(ByteBuffer.allocate(8)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(json.length)
                        .flip());
                channel.write(ByteBuffer.wrap(json));
                for (int i = 0; i < 4; i++) {
                    Random random = new Random(4L * shard + i);
                    ByteBuffer tensor = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
                    while (tensor.hasRemaining()) {
                        tensor.putFloat((float) (random.nextGaussian() * (1 + i)));
                    }
                    channel.write(tensor.flip());
                }
            }
        }
        return folder;
    }
}
