// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The charts of docs/measured.md and of the README, and the tables below them, drawn from the JSON of docs/results. */
public final class Charts {

    private static final int WIDTH = 560;
    private static final int EACH = 46;
    private static final int TOP = 30;
    private static final int MIDDLE = 200;
    private static final int DOUBLING = 70; // pixels for a factor of 2: a half is as long as a double
    private static final int LONG = 84; // characters that would pass the edge in some fonts
    private static final String STYLE =
            "<style>.page{fill:#f6f8fa}.ink{fill:#1b222b}.dim{fill:#55606d}.more{fill:#0a5fb4}"
                    + ".less{fill:#b4551d}.line{stroke:#8a94a0}.range{stroke:#1b222b}@media(prefers-color-scheme:dark){"
                    + ".page{fill:#161a20}.ink{fill:#e7eaee}.dim{fill:#a9b3bf}.more{fill:#58a6ff}.less{fill:#ff9a62}"
                    + ".line{stroke:#6b7683}.range{stroke:#e7eaee}}</style>\n";

    private final Path root;

    /**
     * A bar: how many times the baseline's rate.
     *
     * @param what what was done
     * @param against what the baseline is
     */
    record Bar(String what, String against, double ratio, double low, double high) {

        private String cell() {
            return String.format(
                    Locale.ROOT, "| %s | %s | %s | %s to %s |", what, against, of(ratio), of(low), of(high));
        }

        /** Two digits behind the point, or three in all. */
        static String of(double ratio) {
            return String.format(Locale.ROOT, ratio < 10 ? "%.2f" : "%.1f", ratio);
        }
    }

    Charts(Path root) {
        this.root = root;
    }

    /** Draws all charts of the repository that is the argument. */
    public static void main(String[] arguments) throws IOException {
        Charts charts = new Charts(Path.of(arguments[0]));
        Map<String, List<Bar>> all = charts.all();
        for (Map.Entry<String, List<Bar>> chart : all.entrySet()) {
            Files.writeString(charts.picture(chart.getKey()), svg(chart.getValue()));
        }
        Files.writeString(charts.page(), withTables(Files.readString(charts.page()), all));
    }

    Path page() {
        return root.resolve("docs/measured.md");
    }

    Path picture(String chart) {
        return root.resolve("docs/assets/measured-" + chart + ".svg");
    }

    /** Returns the bars of each chart of charts.txt, by its name. */
    Map<String, List<Bar>> all() throws IOException {
        Map<String, List<Bar>> charts = new LinkedHashMap<>();
        List<Bar> bars = new ArrayList<>();
        for (String line : Files.readAllLines(root.resolve("tools/benchmarks/src/main/rows/charts.txt"))) {
            if (line.startsWith("= ")) {
                bars = new ArrayList<>();
                charts.put(line.substring(2), bars);
            } else if (!line.isBlank() && !line.startsWith("#")) {
                String[] cells = line.split(" \\| ");
                double[] values = values(cells[0], cells[1]);
                bars.add(new Bar(cells[2], cells[3], values[0], values[1], values[2]));
            }
        }
        return charts;
    }

    /** Returns the median of the pairs, the least and the most. */
    private double[] values(String file, String row) throws IOException {
        String json = Files.readString(root.resolve("docs/results").resolve(file));
        if (json.startsWith("{")) {
            String[] ways = row.split(" / ");
            double[] ours = rates(json, ways[0]);
            double[] theirs = rates(json, ways[1]);
            double[] pairs = IntStream.range(0, ours.length)
                    .mapToDouble(i -> ours[i] / theirs[i])
                    .sorted()
                    .toArray();
            return new double[] {Result.median(pairs), pairs[0], pairs[pairs.length - 1]};
        }
        for (Object each : new JsonArray(json)) {
            JsonObject one = (JsonObject) each;
            if (row.equals(one.getString("row")) && "default".equals(one.getString("mode"))) {
                if (!"x".equals(one.getString("unit")) || !"more".equals(one.getString("better"))) {
                    throw new IllegalArgumentException(file + ": not a factor of which more is better: " + row);
                }
                return new double[] {one.getDouble("ratio"), one.getDouble("low"), one.getDouble("high")};
            }
        }
        throw new IllegalArgumentException(file + " has no row " + row);
    }

    private static double[] rates(String json, String way) {
        JsonObject measured = new JsonObject(json).getJsonObject("ways").getJsonObject(way);
        if (measured == null) {
            throw new IllegalArgumentException("no server " + way);
        }
        return measured.getJsonArray("mib_per_second").stream()
                .mapToDouble(rate -> ((Number) rate).doubleValue())
                .toArray();
    }

    /** Returns the picture: one bar below the other, from the baseline's rate to ours, on a logarithmic scale. */
    static String svg(List<Bar> bars) {
        int height = TOP + bars.size() * EACH + 12;
        StringBuilder svg = new StringBuilder(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%1$d\" height=\"%2$d\" viewBox=\"0 0 %1$d %2$d\""
                        + " role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n",
                WIDTH,
                height));
        svg.append(STYLE).append("<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n");
        for (int power = -1; power <= 4; power++) {
            int x = MIDDLE + power * DOUBLING;
            String tick = power < 0 ? "½ ×" : (1 << power) + " ×";
            add(svg, "<text class=\"dim\" x=\"%d\" y=\"18\" text-anchor=\"middle\">%s</text>", x, tick);
            String width = power == 0 ? "1.5" : "0.3";
            add(svg, "<path class=\"line\" stroke-width=\"%s\" d=\"M%d 24V%d\"/>", width, x, height - 8);
        }
        for (int i = 0; i < bars.size(); i++) {
            bar(svg, bars.get(i), TOP + i * EACH);
        }
        return svg.append("</svg>\n").toString();
    }

    private static void bar(StringBuilder svg, Bar bar, int top) {
        int to = x(bar.ratio);
        String kind = bar.ratio < 1 ? "less" : "more";
        String label = bar.what + "; against " + bar.against;
        String fit =
                label.length() < LONG ? "" : " textLength=\"" + (WIDTH - 24) + "\" lengthAdjust=\"spacingAndGlyphs\"";
        add(svg, "<text class=\"ink\" x=\"12\" y=\"%d\"%s>%s</text>", top + 14, fit, label);
        int left = Math.min(MIDDLE, to);
        int width = Math.abs(to - MIDDLE);
        add(svg, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"14\"/>", kind, left, top + 20, width);
        add(svg, "<path class=\"range\" d=\"M%d %dH%d\"/>", x(bar.low), top + 27, x(bar.high));
        int behind = Math.max(MIDDLE, Math.max(to, x(bar.high))) + 6;
        String text = "<text class=\"ink\" font-weight=\"600\" x=\"%d\" y=\"%d\">%s ×</text>";
        add(svg, text, behind, top + 31, Bar.of(bar.ratio));
    }

    private static int x(double ratio) {
        return (int) Math.round(MIDDLE + Math.log(ratio) / Math.log(2) * DOUBLING);
    }

    private static void add(StringBuilder svg, String element, Object... values) {
        svg.append(String.format(Locale.ROOT, element, values)).append('\n');
    }

    /** Returns the page with the table of each chart that it has, which begins behind the chart's picture. */
    static String withTables(String page, Map<String, List<Bar>> charts) {
        String text = page;
        for (Map.Entry<String, List<Bar>> chart : charts.entrySet()) {
            int picture = text.indexOf("(assets/measured-" + chart.getKey() + ".svg)");
            if (picture >= 0) {
                int begin = text.indexOf("\n\n", picture) + 2;
                int end = text.startsWith("|", begin) ? text.indexOf("\n\n", begin) + 2 : begin;
                text = text.substring(0, begin) + table(chart.getValue()) + "\n" + text.substring(end);
            }
        }
        return text;
    }

    private static String table(List<Bar> bars) {
        return bars.stream()
                .map(Bar::cell)
                .collect(Collectors.joining(
                        "\n", "| what | against | times its rate | range |\n|---|---|---|---|\n", "\n"));
    }
}
