// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.context;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class PoclCacheTest {

    @Test
    void theFolderIsFoundAsPoclFindsIt() {
        assertThat(PoclCache.of(Map.of("POCL_CACHE_DIR", "/p", "XDG_CACHE_HOME", "/x", "HOME", "/h")))
                .hasToString("PoclCache[folder=" + Path.of("/p") + "]");
        assertThat(PoclCache.of(Map.of("XDG_CACHE_HOME", "/x", "HOME", "/h")).folder())
                .isEqualTo(Path.of("/x/pocl/kcache"));
        assertThat(PoclCache.of(Map.of("HOME", "/h")).folder()).isEqualTo(Path.of("/h/.cache/pocl/kcache"));
        assertThat(PoclCache.of(Map.of()).folder()).isEqualTo(Path.of("/tmp/pocl/kcache"));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aFileSystemThatTakesNoFoldersRefusesThoughItsPermissionsDoNot() {
        assertThat(PoclCache.of(Map.of("POCL_CACHE_DIR", "/proc/nope")).isRefused())
                .isTrue();
    }

    @Test
    void aFolderThatCanBeCreatedIsNotRefused(@TempDir Path home) throws IOException {
        assertThat(PoclCache.of(Map.of("HOME", home.toString())).isRefused()).isFalse();
        Path file = Files.createFile(home.resolve("file")); // in which not even root creates one
        assertThat(PoclCache.of(Map.of("HOME", file.toString())).isRefused()).isTrue();
    }
}
