// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.tck.Require;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads from a server that find nothing, or move nothing. */
class HttpReadTest {

    @TempDir
    Path folder;

    @Test
    void aReaderThatCannotOpenItsFileLeavesNoServer() {
        Require.backend("nginx", HttpServer.program("nginx").isPresent() ? null : "there is no nginx");
        List<Long> before = children();
        assertThatThrownBy(() -> new HttpRead.Penstock(folder.resolve("none"), false))
                .hasMessageContaining("none");
        assertThat(children()).as("processes of this one").isEqualTo(before);
    }

    private static List<Long> children() {
        return ProcessHandle.current()
                .children()
                .filter(ProcessHandle::isAlive)
                .map(ProcessHandle::pid)
                .sorted()
                .toList();
    }
}
