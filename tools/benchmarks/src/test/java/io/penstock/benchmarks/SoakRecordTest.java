// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX) // for /proc
class SoakRecordTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final SoakRecord record = new SoakRecord();

    /** The first one loads classes. */
    @BeforeAll
    static void sample() throws IOException {
        new SoakRecord().add(Duration.ZERO, 0, 0, 0);
    }

    private void add(int minutes, long slabs) throws IOException {
        record.add(Duration.ofMinutes(minutes), 100, 50, slabs);
    }

    @Test
    void whatIsAsItWasInTheFirstMinuteHasNotGrown() throws IOException {
        add(1, 4096);
        add(2, 1 << 20); // in flight
        add(3, 4096);
        assertThat(record.grown(MINUTE)).noneMatch(line -> line.contains("slabs"));
    }

    @Test
    void memoryThatGrowsSlowlyIsFound() throws IOException {
        add(1, 4096);
        add(2, 4100);
        add(3, 4104);
        assertThat(record.grown(MINUTE)).contains("bytes of slabs in use from 4096 to 4104");
    }

    @Test
    void filesThatStayOpenAreFound() throws IOException {
        List<InputStream> open = new ArrayList<>();
        try {
            add(1, 0);
            for (int i = 0; i < 20; i++) { // more than the JVM may close meanwhile
                open.add(Files.newInputStream(Path.of("/proc/self/status")));
            }
            add(2, 0);
            assertThat(record.grown(MINUTE)).singleElement().asString().startsWith("descriptors from ");
        } finally {
            for (InputStream file : open) {
                file.close();
            }
        }
    }
}
