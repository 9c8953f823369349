// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cli.testing.CommandLineRun;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/** A safetensors file of large arrays and many small ones, most of them at odd offsets. */
final class ModelFile {

    private static final int SMALL = 300;

    private ModelFile() {}

    static Path write(Path file) throws IOException {
        StringBuilder header = new StringBuilder("{");
        int end = 0;
        end = add(header, "matrix", "BF16", "[700,1001]", end, 2 * 700 * 1001);
        for (int i = 0; i < SMALL; i++) {
            end = add(header, ",small." + i, "U8", "[" + (i + 1) + "]", end, i + 1);
        }
        end = add(header, ",large", "I8", "[3,1000003]", end, 3 * 1000003);
        byte[] json = header.append('}').toString().getBytes(StandardCharsets.UTF_8);
        byte[] data = new byte[end];
        new Random(end).nextBytes(data);
        ByteBuffer bytes = ByteBuffer.allocate(8 + json.length + end).order(ByteOrder.LITTLE_ENDIAN);
        return Files.write(file, bytes.putLong(json.length).put(json).put(data).array());
    }

    private static int add(StringBuilder header, String name, String type, String shape, int begin, int length) {
        String comma = name.startsWith(",") ? "," : "";
        header.append("%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
                .formatted(comma, name.substring(comma.length()), type, shape, begin, begin + length));
        return begin + length;
    }

    /** Loads the file whole, and parts of it, and compares everything with the file. */
    static void assertLoads(Path file, String backend) {
        for (List<String> part : List.of(
                List.<String>of(),
                List.of("--shard", "rows", "--part", "1/3"),
                List.of("--shard", "columns", "--part", "2/3"))) {
            Object[] arguments = new Object[5 + part.size()];
            List.of("load", file, "--verify", "--backend", backend).toArray(arguments);
            for (int i = 0; i < part.size(); i++) {
                arguments[5 + i] = part.get(i);
            }
            CommandLineRun run = CommandLineRun.of(arguments);
            assertThat(run.code()).as(run.err()).isZero();
            assertThat(run.out().lines().toList())
                    .hasSize(SMALL + 4)
                    .last()
                    .asString()
                    .startsWith("loaded " + (SMALL + 2) + " arrays")
                    .endsWith("backend " + backend + "; verified");
        }
    }
}
