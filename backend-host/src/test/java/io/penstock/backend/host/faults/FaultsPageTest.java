// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page on tests shows the matrix of faults as its data has it. */
class FaultsPageTest {

    private static final Path PAGE = Path.of(System.getProperty("basedir", "")).resolve("../docs/testing.md");
    private static final int FEWEST = 120;
    private static final Map<String, Set<String>> ALL = Map.of(
            "operations", Set.of("open", "size", "read", "write", "sync", "truncate", "close", "rename"),
            "faults",
                    Set.of(
                            "EIO",
                            "ENOSPC",
                            "ESTALE",
                            "EINTR",
                            "short",
                            "zero",
                            "slow",
                            "hung",
                            "cut",
                            "replaced",
                            "removed"),
            "ways", Set.of("ring", "pool", "direct", "staged", "stream", "remote"),
            "places", Set.of("ext4", "tmpfs", "overlay", "loop4k", "fuse3", "fuse2", "http"));

    @Test
    void thePageShowsTheRows() throws IOException {
        String table = FaultCell.rows().stream().map(FaultsPageTest::line).collect(Collectors.joining("\n"));
        String count = "These are " + FaultCell.all().size() + " cells";

        assertThat(Files.readString(PAGE))
                .as("docs/testing.md must have \"%s\", and the lines:\n%s", count, table)
                .contains(table)
                .contains(count);
    }

    private static String line(String[] row) {
        return Stream.of(row)
                .map(column -> column.replace(",", ", ").replace("_", " "))
                .collect(Collectors.joining(" | ", "| ", " |"));
    }

    @Test
    void everyOperationFaultWayAndFileSystemHasCells() {
        assertThat(FaultCell.all()).hasSizeGreaterThanOrEqualTo(FEWEST).doesNotHaveDuplicates();
        assertThat(Map.of(
                        "operations", all(FaultCell::operation),
                        "faults", all(FaultCell::fault),
                        "ways", all(FaultCell::way),
                        "places", all(FaultCell::place)))
                .isEqualTo(ALL);
    }

    private static Set<String> all(Function<FaultCell, String> part) {
        return FaultCell.all().stream().map(part).collect(Collectors.toSet());
    }
}
