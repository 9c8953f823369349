// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CopyCommandTest {

    @TempDir
    Path folder;

    private Path source;
    private Path copy;

    @BeforeEach
    void name() {
        source = folder.resolve("source");
        copy = folder.resolve("copy");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4095, 65536, 3_000_001})
    void everySizeArrivesWhole(int size) throws IOException {
        byte[] bytes = fill(size);
        CommandLineRun run =
                CommandLineRun.of("copy", source, copy, "--chunk", "64KiB", "--verify", "--backend", "host");
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(copy).hasBinaryContent(bytes);
        List<String> lines = run.out().lines().toList();
        assertThat(lines).hasSize(3);
        assertThat(lines.get(0))
                .startsWith("copied " + size + " bytes to " + copy)
                .contains("GB/s")
                .contains("host");
        assertThat(lines.get(1)).matches("SHA-256 [0-9a-f]{64}  .*source");
        assertThat(lines.get(2)).startsWith(lines.get(1).substring(0, 72));
        assertThat(names()).containsExactly("copy", "source");
    }

    @Test
    void anExistingFileIsReplacedOnlyByForce() throws IOException {
        byte[] bytes = fill(1000);
        Files.writeString(copy, "precious");
        assertComplaint(copy + " exists already", source, copy);
        assertThat(copy).hasContent("precious");
        assertThat(CommandLineRun.of("copy", source, copy, "--force").code()).isZero();
        assertThat(copy).hasBinaryContent(bytes);
    }

    @Test
    void badInputGetsOneLineAndLeavesNothing() throws IOException {
        fill(1000);
        assertComplaint("there is no file", folder.resolve("none"), copy);
        assertComplaint("is a directory", folder, copy);
        assertComplaint("is a directory", source, folder);
        assertComplaint("are the same file", source, source);
        assertComplaint("are the same file", source, folder.resolve(".").resolve("source"));
        assertComplaint("there is no directory", source, folder.resolve("a/b"));
        assertComplaint("would go HOST, not DIRECT", source, copy, "--path", "direct", "--backend", "host");
        assertComplaint(
                "there is no path 'scenic' for backend host; it takes direct, mapped, compat, staged, host",
                source,
                copy,
                "--path",
                "scenic",
                "--backend",
                "host");
        assertComplaint("there is no backend 'warp'", source, copy, "--backend", "warp");
        assertThat(names()).containsExactly("source");
    }

    @Test
    void misuseGetsCodeTwo() {
        assertThat(CommandLineRun.of("copy", source).code()).isEqualTo(2);
        assertThat(CommandLineRun.of("copy", source, copy, "--chunk", "0").code())
                .isEqualTo(2);
    }

    private static void assertComplaint(String fact, Object... arguments) {
        Object[] all = Stream.concat(Stream.of("copy"), Stream.of(arguments)).toArray();
        CommandLineRun run = CommandLineRun.of(all);
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.complaints()[0]).contains(fact);
        assertThat(run.out()).isEmpty();
    }

    private byte[] fill(int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        Files.write(source, bytes);
        return bytes;
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }
}
