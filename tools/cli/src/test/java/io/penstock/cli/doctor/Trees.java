// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.doctor;

import io.penstock.engine.kit.machine.KernelFiles;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/**
 * Trees of files, made of listings: a line is {@code PATH TEXT}, with {@code \n} and {@code \t}, or
 * {@code PATH -> TARGET}. A configuration space is {@code acs=HEX} (the control word), {@code none} (no such
 * capability), {@code short} (what users see that are not root), or its bytes in hexadecimal digits.
 */
final class Trees {

    private static final int WHOLE = 4096;
    private static final int SHORT = 64;

    private Trees() {}

    static KernelFiles make(Path root, String listing, String architecture) throws IOException {
        List<String> lines = new ArrayList<>();
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(Trees.class.getResourceAsStream("/doctor/" + listing)),
                StandardCharsets.UTF_8))) {
            reader.lines().filter(line -> !line.startsWith("#")).forEach(lines::add);
        }
        for (String line : lines) {
            if (line.contains(" -> ")) {
                String[] link = line.substring(1).split(" -> ");
                Path path = root.resolve(link[0]);
                Files.createDirectories(path.getParent());
                Path target = path.getParent().resolve(link[1]).normalize();
                Files.createDirectories(target);
                Files.createSymbolicLink(path, Path.of(link[1]));
            }
        }
        for (String line : lines) {
            if (!line.contains(" -> ")) {
                String[] file = line.substring(1).split(" ", 2);
                Path path = root.resolve(file[0]);
                Files.createDirectories(path.getParent());
                String text = file[1].replace("\\n", "\n").replace("\\t", "\t");
                Files.write(
                        path, path.endsWith("config") ? config(text) : (text + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
        return new KernelFiles(root, architecture);
    }

    private static byte[] config(String text) {
        if (text.equals("short")) {
            return new byte[SHORT];
        }
        if (!text.equals("none") && !text.startsWith("acs=")) {
            return HexFormat.of().parseHex(text);
        }
        ByteBuffer config = ByteBuffer.allocate(WHOLE).order(ByteOrder.LITTLE_ENDIAN);
        boolean acs = text.startsWith("acs=");
        config.putInt(0x100, 0x0001 | 1 << 16 | (acs ? 0x148 : 0) << 20); // advanced error reporting, and the next
        if (acs) {
            config.putInt(0x148, 0x000D | 1 << 16);
            config.putShort(0x148 + 6, Short.parseShort(text.substring(4), 16));
        }
        return config.array();
    }
}
