// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * A file of arrays, with the content of the test file.
 *
 * @param places where each array begins in the test file
 */
record ArraysFile(Path path, Map<String, Long> places) {

    private static final long ROW = 8192; // bytes of 4096 numbers of BF16
    private static final int LAYERS = 20;
    private static final int SMALL = 4096;
    private static final int SMALL_BYTES = 40 << 20; // in all

    /** The shares of a layer of a model of eight billion parameters, in percent of its rows. */
    private static final Map<String, Integer> SHARES = Map.of(
            "self_attn.q_proj", 8,
            "self_attn.k_proj", 2,
            "self_attn.v_proj", 2,
            "self_attn.o_proj", 8,
            "mlp.gate_proj", 26,
            "mlp.up_proj", 26,
            "mlp.down_proj", 26);

    /** Prepares the layers of a {@code model} of so many bytes, or {@code small} arrays. */
    static ArraysFile of(Path folder, String name, long bytes) throws IOException {
        Map<String, Long> arrays = name.equals("small") ? small() : layers(bytes);
        Path path = TestFile.prepare(
                folder.resolve(name + ".safetensors"), header(arrays), name.equals("small") ? SMALL_BYTES : bytes);
        Map<String, Long> places = new LinkedHashMap<>();
        long at = 0;
        for (Map.Entry<String, Long> array : arrays.entrySet()) {
            places.put(array.getKey(), at);
            at += array.getValue();
        }
        return new ArraysFile(path, places);
    }

    /** Prepares a model of so many files of the same length, each with the contents of the test file; returns their index. */
    static Path shards(Path folder, int count, long bytes) throws IOException {
        StringBuilder index = new StringBuilder();
        for (int shard = 1; shard <= count; shard++) {
            String name = String.format(Locale.ROOT, "model-%05d-of-%05d.safetensors", shard, count);
            Map<String, Long> arrays = new LinkedHashMap<>();
            for (Map.Entry<String, Long> array : layers(bytes / count).entrySet()) {
                arrays.put(shard + "." + array.getKey(), array.getValue());
                index.append(index.isEmpty() ? "" : ",")
                        .append(String.format(Locale.ROOT, "\"%d.%s\":\"%s\"", shard, array.getKey(), name));
            }
            TestFile.prepare(folder.resolve(name), header(arrays), bytes / count);
        }
        return Files.writeString(
                folder.resolve("model.safetensors.index.json"),
                "{\"metadata\":{\"total_size\":" + bytes + "},\"weight_map\":{" + index + "}}");
    }

    /** Prepares a NumPy file of version 1 (numpy.lib.format): a header of 128 bytes, and an array of bytes. */
    static Path numpy(Path folder, long bytes) throws IOException {
        String text = String.format(
                Locale.ROOT, "%-117s%n", "{'descr': '|u1', 'fortran_order': False, 'shape': (" + bytes + ",), }");
        ByteBuffer header = ByteBuffer.allocate(10 + text.length())
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0})
                .putShort((short) text.length())
                .put(text.getBytes(StandardCharsets.US_ASCII));
        return TestFile.prepare(folder.resolve("model.npy"), header.array(), bytes);
    }

    private static Map<String, Long> small() {
        Map<String, Long> arrays = new LinkedHashMap<>();
        for (int number = 0; number < SMALL_BYTES / SMALL; number++) {
            arrays.put("array." + number, (long) SMALL);
        }
        return arrays;
    }

    /** Returns names and bytes of the arrays of layers that are {@code bytes} long in all. */
    private static Map<String, Long> layers(long bytes) {
        Map<String, Long> arrays = new LinkedHashMap<>();
        long rows = bytes / ROW / LAYERS;
        for (int layer = 0; layer < LAYERS; layer++) {
            String name = "model.layers." + layer + ".";
            arrays.put(name + "input_layernorm.weight", ROW);
            arrays.put(name + "post_attention_layernorm.weight", ROW);
            for (String part : SHARES.keySet().stream().sorted().toList()) {
                arrays.put(name + part + ".weight", Math.max(1, rows * SHARES.get(part) / 100) * ROW);
            }
        }
        long used = arrays.values().stream().mapToLong(Long::longValue).sum();
        arrays.put("lm_head.weight", bytes - used);
        return arrays;
    }

    private static byte[] header(Map<String, Long> arrays) {
        StringBuilder json = new StringBuilder();
        long at = 0;
        for (Map.Entry<String, Long> array : arrays.entrySet()) {
            long end = at + array.getValue();
            json.append(json.isEmpty() ? "{" : ",")
                    .append(String.format(
                            Locale.ROOT,
                            "\"%s\":{\"dtype\":\"BF16\",\"shape\":[%d],\"data_offsets\":[%d,%d]}",
                            array.getKey(),
                            array.getValue() / 2,
                            at,
                            end));
            at = end;
        }
        json.append("}");
        json.append(" ".repeat(-json.length() & 7));
        byte[] text = json.toString().getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(Long.BYTES + text.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(text.length)
                .put(text)
                .array();
    }
}
