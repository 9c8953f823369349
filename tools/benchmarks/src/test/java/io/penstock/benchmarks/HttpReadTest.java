// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads from a server that find nothing, or move nothing. */
class HttpReadTest {

    @TempDir
    Path folder;

    /** A run that moves nothing would pass by the bytes of the run before. */
    @Test
    void bytesThatWereCheckedDoNotPassAgain() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(3 * 4096).order(ByteOrder.LITTLE_ENDIAN);
        TestFile.fill(bytes, 4096);
        HttpRead.verify(bytes.duplicate(), 4096);
        for (int page = 0; page < 3; page++) { // each of them
            ByteBuffer one = bytes.slice(page * 4096, 4096);
            long at = 4096 + page * 4096L;
            assertThatThrownBy(() -> HttpRead.verify(one, at))
                    .isInstanceOf(IOException.class)
                    .hasMessage("wrong bytes at " + at + " of the test file");
        }
        TestFile.fill(bytes, 4096);
        HttpRead.verify(bytes, 4096);
    }

    @Test
    void aReaderThatCannotOpenItsFileLeavesNoServer() {
        Require.backend("nginx", HttpServer.program("nginx").isPresent() ? null : "there is no nginx");
        Set<Long> before = servers();
        assertThatThrownBy(() -> new HttpRead.Penstock(folder.resolve("none"), false))
                .hasMessageContaining("none");
        Set<Long> after = servers();
        after.removeAll(before); // other tests of this process may have theirs
        assertThat(after).as("servers that this one has started").isEmpty();
    }

    private static Set<Long> servers() {
        return ProcessHandle.current()
                .children()
                .filter(ProcessHandle::isAlive)
                .map(ProcessHandle::pid)
                .collect(Collectors.toSet());
    }
}
