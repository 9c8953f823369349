// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backends;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rows of gl in small, on this machine's OpenGL. */
@Tag("slow")
class GlRowsTest {

    @TempDir
    Path folder;

    @BeforeEach
    void find() {
        Backends.list().stream()
                .filter(listing -> listing.name().equals("gl"))
                .forEach(listing -> Require.backend("gl", listing.availability()));
    }

    private Settings settings() {
        return Settings.parse(new String[] {
            "gl",
            "--force",
            "--pairs",
            "1",
            "--seconds",
            "0.1",
            "--mib",
            "16",
            "--blocks",
            "10",
            "--dir",
            folder.toString()
        });
    }

    @Test
    void everyContenderOfEveryRowMovesTheRightBytes() throws Exception {
        Settings settings = settings();
        try (DeviceBench bench = DeviceBench.open(settings)) {
            for (Row row : bench.rows()) {
                Report report = row.run(settings, false);
                Rounds rounds = (Rounds) row;
                assertThat(report.results()).as(row.name()).hasSameSizeAs(rounds.comparisons());
                assertThat(report.figures())
                        .as(row.name())
                        .hasSize(rounds.contenders().size());
            }
        }
    }

    @Test
    void theCheckFindsAWordThatIsWrong() throws Exception {
        try (DeviceBench bench = DeviceBench.open(settings());
                Contender peer = bench.open(Order.of("peer way=naive"))) {
            peer.run(0);
            peer.verify();
            int other = GlMemoryCheck.buffer(4096, 0);
            bench.device.poison(other, 4096);
            assertThatThrownBy(() -> bench.device.verify(other, 0, 4096, 0))
                    .isInstanceOf(IOException.class)
                    .hasMessage("512 wrong words");
            GlMemoryCheck.delete(other);
        }
    }
}
