// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.cli.testing.CommandLineRun;
import io.penstock.file.PartFile;
import io.penstock.formats.ArrayWriter;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.ElementType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A process that writes one target again and again, and is killed at any moment. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "the moments are counted by /proc")
class KilledWriterTest {

    private static final int BYTES = 300_000;

    @TempDir
    Path folder;

    /** Writes the target until it is killed: files of one byte each. Prints a letter for each. */
    static final class Writing {
        private Writing() {}

        public static void main(String[] arguments) throws IOException {
            Path target = Path.of(arguments[1]);
            try (Backend host = Backends.open("host");
                    DeviceBuffer memory = host.allocate(BYTES).block()) {
                for (int i = 0; ; i++) {
                    write(arguments[0], host, memory, target, (byte) i);
                    System.out.print('.');
                    System.out.flush();
                }
            }
        }

        static void write(String how, Backend host, DeviceBuffer memory, Path target, byte value) throws IOException {
            byte[] bytes = new byte[BYTES];
            Arrays.fill(bytes, value);
            switch (how) {
                case "array" -> {
                    memory.hostView().orElseThrow().buffer(0, BYTES).put(bytes);
                    ArrayWriter.of(host)
                            .npy(
                                    target,
                                    DeviceArray.of("a", ElementType.U8, List.of((long) BYTES), memory.region(0, BYTES)))
                            .block();
                }
                case "copy" -> {
                    Path source = target.getParent()
                            .resolveSibling("source-" + ProcessHandle.current().pid());
                    Files.write(source, bytes);
                    CommandLineRun run = CommandLineRun.of("copy", "--backend", "host", "--force", source, target);
                    if (run.code() != 0) {
                        throw new IOException(run.err());
                    }
                }
                default -> {
                    try (PartFile file = PartFile.create(target, true, null)) {
                        file.fill(part -> Files.write(part, bytes));
                        file.commit();
                    }
                }
            }
        }
    }

    private Process start(String how, boolean named, Path target, String... before) throws IOException {
        List<String> words = new ArrayList<>(List.of(before));
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(List.of("-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp"));
        words.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        if (named) { // without native access there are no files without a name
            words.addAll(List.of("-Djna.nosys=true", "-Djna.noclasspath=true"));
        }
        words.addAll(List.of(Writing.class.getName(), how, target.toString()));
        return new ProcessBuilder(words)
                .redirectError(folder.resolve("errors").toFile())
                .start();
    }

    /** Lets it write some more, and a part of one. */
    private static void await(Process writer, int files, int spins) throws IOException {
        InputStream written = writer.getInputStream();
        assertThat(written.readNBytes(files)).as("it goes on").hasSize(files);
        for (int i = 0; i < spins; i++) {
            Thread.onSpinWait();
        }
    }

    private static void assertWhole(Path target) throws IOException {
        byte[] bytes = Files.readAllBytes(target);
        int header = bytes.length - BYTES;
        assertThat(header).isBetween(0, 200);
        byte[] same = new byte[BYTES];
        Arrays.fill(same, bytes[header]);
        assertThat(Arrays.equals(bytes, header, bytes.length, same, 0, BYTES)).isTrue();
    }

    private static List<String> names(Path in) throws IOException {
        try (Stream<Path> files = Files.list(in)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @ParameterizedTest
    @CsvSource({"part, false", "part, true", "array, false", "array, true"})
    void aFileThatBecomesTooLargeIsNamedByItsTarget(String how, boolean named) throws Exception {
        Path target = Files.writeString(folder.resolve("target"), "old");
        String[] limit = {"sh", "-c", "ulimit -f 500; exec \"$@\"", "sh"}; // of 512 or 1024 bytes
        assertThat(start(how, named, target, limit).waitFor()).isEqualTo(1);
        assertThat(Files.readAllLines(folder.resolve("errors")).stream().filter(line -> line.startsWith("Exception")))
                .singleElement(InstanceOfAssertFactories.STRING)
                .contains(target.toString())
                .doesNotContain("/proc/self/fd", ".part");
        assertThat(target).hasContent("old");
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"part, false", "part, true", "array, false", "array, true", "copy, false", "copy, true"})
    void theTargetIsWholeAndTheNextWriteRemovesWhatIsLeft(String how, boolean named) throws Exception {
        Path in = Files.createDirectory(folder.resolve("in"));
        Path target = in.resolve("target");
        Random random = new Random();
        for (int kill = 0; kill < 3; kill++) {
            Process first = start(how, named, target);
            Process second = start(how, named, target);
            await(second, 1, 0);
            await(first, 1 + random.nextInt(20), random.nextInt(200_000));
            first.destroyForcibly().waitFor();
            assertWhole(target);
            await(second, 5, random.nextInt(200_000)); // and removes what the first has left, never its own
            second.destroyForcibly().waitFor();
            assertWhole(target);
            assertThat(folder.resolve("errors")).content().doesNotContain("Exception");
            try (PartFile next = PartFile.create(target, true, null)) {
                next.fill(part -> Files.write(part, new byte[BYTES]));
                next.commit();
            }
            assertThat(names(in)).containsExactly("target");
        }
    }
}
