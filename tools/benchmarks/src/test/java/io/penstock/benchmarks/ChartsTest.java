// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChartsTest {

    private final Charts charts = new Charts(Path.of("..", ".."));

    @TempDir
    Path folder;

    @Test
    void thePicturesAndTablesAreThoseOfTheJson() throws IOException {
        Map<String, List<Charts.Bar>> all = charts.all();
        assertThat(all).containsKeys("readme", "host", "nvidia", "opencl", "gl", "http");
        for (Map.Entry<String, List<Charts.Bar>> chart : all.entrySet()) {
            assertThat(charts.picture(chart.getKey()))
                    .as("tools/benchmarks/run charts")
                    .hasContent(Charts.svg(chart.getValue()));
        }
        String page = Files.readString(charts.page());
        assertThat(page).as("tools/benchmarks/run charts").isEqualTo(Charts.withTables(page, all));
        assertThat(page).contains("| range |", "| 5.39 |");
    }

    @Test
    void whatIsSlowerIsLeftOfTheBaselineAndWhatIsFasterIsRight() {
        String slower = Charts.svg(List.of(new Charts.Bar("this", "that", 0.5, 0.4, 0.6)));
        assertThat(slower).contains("class=\"less\" x=\"130\" y=\"50\" width=\"70\"", "this; against that", "0.50 ×");
        String faster = Charts.svg(List.of(new Charts.Bar("this", "that", 4, 2, 8)));
        assertThat(faster).contains("class=\"more\" x=\"200\" y=\"50\" width=\"140\"", "4.00 ×");
    }

    @Test
    void aLabelThatIsTooLongForThePictureIsSqueezed() {
        assertThat(Charts.svg(List.of(new Charts.Bar("w".repeat(80), "that", 2, 2, 2))))
                .contains("x=\"12\" y=\"44\" textLength=\"536\"");
        assertThat(Charts.svg(List.of(new Charts.Bar("w".repeat(60), "that", 2, 2, 2))))
                .doesNotContain("textLength");
    }

    @Test
    void pairsOfWebServersAreCompared() throws IOException {
        write(
                "web.json",
                "{\"ways\": {\"a\": {\"mib_per_second\": [9, 4, 2]}, \"b\": {\"mib_per_second\": [3, 2, 2]}}}");
        assertThat(drawn("web.json | a / b | what | that"))
                .containsExactly(new Charts.Bar("what", "that", 2.0, 1.0, 3.0));
        assertThatThrownBy(() -> drawn("web.json | a / c | what | that")).hasMessage("no server c");
    }

    @Test
    void aRowThatIsNotThereOrIsNotAFactorIsRefused() throws IOException {
        write(
                "one.json",
                "[{\"row\": \"r\", \"mode\": \"direct\", \"ratio\": 2, \"low\": 1, \"high\": 3},"
                        + " {\"row\": \"t\", \"mode\": \"default\", \"ratio\": 2, \"unit\": \"ns\", \"better\": \"less\"}]");
        assertThatThrownBy(() -> drawn("one.json | r | what | that")).hasMessage("one.json has no row r");
        assertThatThrownBy(() -> drawn("one.json | t | what | that")).hasMessageContaining("not a factor");
    }

    private void write(String file, String text) throws IOException {
        Files.createDirectories(folder.resolve("docs/results"));
        Files.writeString(folder.resolve("docs/results").resolve(file), text);
    }

    private List<Charts.Bar> drawn(String line) throws IOException {
        Path rows = Files.createDirectories(folder.resolve("tools/benchmarks/src/main/rows"));
        Files.writeString(rows.resolve("charts.txt"), "# a comment\n= one\n" + line + "\n");
        return new Charts(folder).all().getOrDefault("one", List.of());
    }
}
