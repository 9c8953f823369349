// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rows of opencl in small, on this machine's OpenCL and on the fake of AMD's driver. */
@Tag("slow")
class OpenClRowsTest {

    private static final Path FAKES = Path.of(System.getProperty("basedir", ""))
            .toAbsolutePath()
            .resolve("../../backend-opencl-ssg/target/fakes");

    @TempDir
    Path folder;

    @BeforeEach
    void find() throws IOException {
        Backends.list().stream()
                .filter(listing -> listing.name().equals("opencl-ssg"))
                .forEach(listing -> Require.backend("opencl", listing.availability()));
        String layer = layer();
        Require.backend("fakes", layer.isEmpty() ? "no layer in " + FAKES + ": test backend-opencl-ssg first" : null);
        System.setProperty(DeviceBench.SSG_FAKE, layer);
    }

    private static String layer() throws IOException {
        if (!Files.isDirectory(FAKES)) {
            return "";
        }
        try (Stream<Path> folders = Files.list(FAKES)) {
            return folders.filter(each -> each.getFileName().toString().startsWith("layer-"))
                    .max(Comparator.comparing(each -> each.toFile().lastModified()))
                    .map(each -> each.resolve("libssg-fake.so").toString())
                    .orElse("");
        }
    }

    @AfterEach
    void forget() {
        System.clearProperty(DeviceBench.SSG_FAKE);
    }

    @Test
    void everyContenderOfEveryRowMovesTheRightBytes() throws Exception {
        Settings settings = Settings.parse(new String[] {
            "opencl",
            "--force",
            "--pairs",
            "1",
            "--seconds",
            "0.1",
            "--mib",
            "16",
            "--blocks",
            "20",
            "--dir",
            folder.toString()
        });
        try (DeviceBench bench = DeviceBench.open(settings)) {
            for (Row row : bench.rows()) {
                Report report = row.run(settings, false);
                assertThat(report.results())
                        .as(row.name())
                        .hasSize(((Rounds) row).comparisons().size());
            }
        }
    }
}
