// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Completion;
import io.penstock.PermanentStorageException;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.fakes.FreshSsg;
import io.penstock.backend.opencl.fakes.SsgFake;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.test.StepVerifier;

/** The manual's code sample in our API does what AMD's does, and lets go of everything where AMD's does not. */
@ExtendWith(FreshSsg.class)
class ManualSampleTest {

    private static final int SIZE = 100_000;

    private SsgFixture ssg;

    @BeforeEach
    void open() {
        ssg = SsgFixture.open(SsgFixture.OPTIONS);
    }

    @AfterEach
    void close() {
        ssg.close();
    }

    @Test
    void itReadsAFile() throws IOException {
        Path path = SsgFixture.write("sample", new byte[70_000]);
        Completion done = Objects.requireNonNull(
                ManualSample.read(ssg.backend(), path, SIZE, 65_536).block(SsgFixture.LONG));
        assertThat(done.bytes()).isEqualTo(65_536);
        assertThat(done.path()).isEqualTo(TransferPath.DIRECT);
        assertThat(ssg.control.awaitLive("files", 0)).isZero();
        assertThat(SsgFake.refusals()).isEmpty();
    }

    @Test
    void itSeesATransferThatFailsWhichABlockingCallDoesNot() throws IOException {
        Path path = SsgFixture.write("sample", new byte[70_000]);
        ssg.control.fail("late:" + SsgFixture.READ, 1, -59);
        StepVerifier.create(ManualSample.read(ssg.backend(), path, SIZE, 65_536))
                .expectError(PermanentStorageException.class)
                .verify(SsgFixture.LONG);
        assertThat(ssg.control.awaitLive("files", 0)).as("file objects left").isZero();
        StepVerifier.create(ManualSample.read(ssg.backend(), path.resolveSibling("none"), SIZE, 1))
                .expectError(NoSuchFileException.class)
                .verify(SsgFixture.LONG);
    }

    @Test
    void thePageHasItAsItIsCompiled() throws IOException {
        Path source = Path.of("src", "test", "java", "io", "penstock", "backend", "opencl", "ManualSample.java");
        List<String> lines =
                Files.readAllLines(source).stream().map(String::strip).toList();
        List<String> sample = lines.subList(lines.indexOf("// sample") + 1, lines.lastIndexOf("// sample"));
        assertThat(sample).hasSizeGreaterThan(5);
        String page = Files.readString(Path.of("..", "docs", "vendors", "opencl-ssg.md"));
        String block =
                page.substring(page.indexOf("```java\n") + 8, page.indexOf("\n```\n", page.indexOf("```java\n")));
        // Lines are broken differently here, by the formatter.
        assertThat(block.replaceAll("\\s", ""))
                .isEqualTo(String.join("", sample).replaceAll("\\s", ""));
    }
}
