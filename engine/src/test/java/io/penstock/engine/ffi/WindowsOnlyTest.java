// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.kit.ffi.WindowsError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What asks Windows, and elsewhere must not. */
class WindowsOnlyTest {

    @TempDir
    Path folder;

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "the answer is Windows' own there")
    void elsewhereNothingIsKnown() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertThat(WindowsFiles.identity(file)).isEmpty();
        assertThat(WindowsError.number("The disk is full")).isNull();
    }

    @Test
    void errorsHaveTheirNames() {
        assertThat(WindowsError.symbol(112)).isEqualTo("ERROR_DISK_FULL");
        assertThat(WindowsError.symbol(4711)).isEmpty();
    }
}
