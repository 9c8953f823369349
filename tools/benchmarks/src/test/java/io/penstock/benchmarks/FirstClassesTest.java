// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.kit.FirstClasses;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The lists of {@link FirstClasses} against what a first load in a process uses, on the fakes of CUDA. With {@code
 * -Dapi.write=true} they are written.
 */
@Tag("once")
@Tag("slow")
class FirstClassesTest {

    /** By module: what its list has. */
    private static final Map<String, Pattern> LISTED = Map.of(
            "engine",
            Pattern.compile("io\\.penstock\\.([A-Z]|(engine|file|handover|spi)\\.).*"
                    + "|(reactor|org\\.reactivestreams|org\\.jctools|com\\.sun\\.jna)\\..*"),
            "gpu",
            Pattern.compile("io\\.penstock\\.backend\\.gpu\\..*"),
            "backend-cufile",
            Pattern.compile("io\\.penstock\\.backend\\.cufile\\..*"),
            "formats",
            Pattern.compile("(io\\.penstock\\.formats|com\\.fasterxml\\.jackson)\\..*"));

    private static final Pattern LOADED = Pattern.compile("[^ ]*\\[[^]]*] ?([\\w.$]+) source: .*");

    private static Set<String> used = Set.of();

    @TempDir
    static Path folder;

    @BeforeAll
    static void load() throws Exception {
        CufileRowsTest.useFakes();
        used = new LinkedHashSet<>();
        load(ArraysFile.of(folder, "model", 16 << 20).path(), 1);
        load(ArraysFile.shards(folder, 4, 64 << 20), 4); // which parses an index, too
        used.removeIf(name -> name.startsWith("io.penstock.benchmarks."));
    }

    private static void load(Path file, int files) throws IOException, InterruptedException {
        Path log = folder.resolve("loaded.txt");
        List<String> command = OtherProcess.java(
                List.of("-Xlog:class+load=info:file=" + log + ":tags"),
                FirstByte.class,
                file.toString(),
                FirstByte.ARRAYS,
                String.valueOf(files));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(GpuBench.libraries());
        Process process = builder.redirectOutput(
                        Redirect.to(folder.resolve("printed").toFile()))
                .start();
        assertThat(process.waitFor()).as(() -> printed()).isZero();
        try (Stream<String> lines = Files.lines(log)) {
            lines.map(LOADED::matcher)
                    .filter(line -> line.matches() && !line.group(1).contains("$$"))
                    .forEach(line -> used.add(line.group(1)));
        }
    }

    private static String printed() {
        try {
            return Files.readString(folder.resolve("printed"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    @AfterAll
    static void close() {
        CufileRowsTest.close();
    }

    static Set<String> modules() {
        return LISTED.keySet();
    }

    @ParameterizedTest
    @MethodSource("modules")
    void aModuleListsWhatAFirstLoadUsesOfIt(String module) throws IOException {
        Path list = Path.of(System.getProperty("basedir", ""))
                .toAbsolutePath()
                .resolve("../../" + module + "/src/main/resources/" + FirstClasses.NAMES);
        List<String> uses = used.stream()
                .filter(name -> LISTED.get(module).matcher(name).matches())
                .toList();
        assertThat(uses).isNotEmpty();
        if (Boolean.getBoolean("api.write")) {
            Files.write(list, uses);
        }
        List<String> listed = Files.readAllLines(list);
        assertThat(listed)
                .doesNotHaveDuplicates()
                .allSatisfy(name -> assertThat(exists(name))
                        .as("%s is no class (any more): write the list of %s again, by -Dapi.write=true", name, module)
                        .isTrue());
        Set<String> missing = new HashSet<>(uses);
        listed.forEach(missing::remove);
        assertThat(missing)
                .as("used by a first load and not listed: write the list of %s again, by -Dapi.write=true", module)
                .hasSizeLessThanOrEqualTo(uses.size() / 10);
    }

    private static boolean exists(String name) {
        try {
            Class.forName(name, false, FirstClassesTest.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }
}
