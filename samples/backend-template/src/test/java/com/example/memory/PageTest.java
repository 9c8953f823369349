// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** docs/writing-a-backend.md quotes this module as it is, without licence and imports. */
class PageTest {

    private static final Path MODULE =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath();

    @Test
    void theTemplateStandsOnTheContractAlone() throws IOException {
        try (Stream<Path> files = Files.walk(MODULE.resolve("src/main/java"))) {
            List<Path> sources =
                    files.filter(file -> file.toString().endsWith(".java")).toList();
            assertThat(sources).hasSizeGreaterThan(4);
            assertThat(sources)
                    .allSatisfy(file -> assertThat(Files.readString(file)).doesNotContain("io.penstock.engine.kit"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "main/java/com/example/memory/HeapMemory.java",
                "main/java/com/example/memory/MemoryDevice.java",
                "main/java/com/example/memory/MemoryProvider.java",
                "main/java/com/example/memory/QueuedDevice.java",
                "test/java/com/example/memory/MemorySubject.java",
                "test/java/com/example/memory/MemoryTckTest.java"
            })
    void quotesTheFile(String file) throws IOException {
        String source = Files.readString(MODULE.resolve("src").resolve(file));
        String page = Files.readString(MODULE.resolve("../../docs/writing-a-backend.md"));
        assertThat(page).contains("```java\n" + source.substring(source.indexOf("/**")) + "```\n");
    }
}
