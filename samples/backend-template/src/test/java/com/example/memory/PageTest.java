// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** docs/writing-a-backend.md quotes this module as it is, without licence and imports. */
class PageTest {

    private static final Path MODULE =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "main/java/com/example/memory/HeapMemory.java",
                "main/java/com/example/memory/MemoryDevice.java",
                "main/java/com/example/memory/MemoryProvider.java",
                "test/java/com/example/memory/MemorySubject.java",
                "test/java/com/example/memory/MemoryTckTest.java"
            })
    void quotesTheFile(String file) throws IOException {
        String source = Files.readString(MODULE.resolve("src").resolve(file));
        String page = Files.readString(MODULE.resolve("../../docs/writing-a-backend.md"));
        assertThat(page).contains("```java\n" + source.substring(source.indexOf("/**")) + "```\n");
    }
}
