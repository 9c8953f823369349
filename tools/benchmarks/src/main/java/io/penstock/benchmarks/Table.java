// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.benchmarks.Comparison.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rows as text. Blocks are separated by empty lines:
 *
 * <pre>
 * row NAME | UNIT [by-name] [alone] | WORDS
 * CONTENDER | VERB WORDS
 * > LABEL | OURS | PEER | KIND GOAL [MODE]
 * </pre>
 *
 * <p>A block with several lines {@code row} is several rows. {@code ~} in a label is the row's name; the words of a
 * row are added to its contenders' orders. {@code by-name} rows are measured only if {@code --rows} names them; the
 * contenders of an {@code alone} row are open one after another. The unit {@code own} is of a row that {@link
 * Bench#row} makes.
 *
 * <p>{@code {a;b}} stands for as many lines, or for as many rows in a row's line: the same braces have the same value
 * everywhere, and {@code {name=a;b}} is repeated as {@code {name}}. {@code $word} is a value of the bench, {@code
 * 2*3} is computed. A line that begins with {@code [condition]} counts where {@link Bench#holds} its words.
 */
final class Table {

    private static final Pattern CHOICE = Pattern.compile("\\{(?:(\\w+)=)?([^{}]*)\\}");
    private static final Pattern PRODUCT = Pattern.compile("(?<![\\d.])(\\d+)\\*(\\d+)");
    private static final String ROW = "row ";

    private final Bench bench;
    private final List<Row> rows = new ArrayList<>();

    private Table(Bench bench) {
        this.bench = bench;
    }

    /** Returns the rows of a backend's table. */
    static List<Row> rows(String backend, Bench bench) throws IOException {
        try (InputStream text = Table.class.getResourceAsStream("/rows/" + backend + ".txt")) {
            if (text == null) {
                throw new IOException("there is no table of rows for " + backend);
            }
            return rows(new String(text.readAllBytes(), StandardCharsets.UTF_8), bench, backend);
        }
    }

    static List<Row> rows(String text, Bench bench, String whose) {
        Table table = new Table(bench);
        for (String block : table.computed(text).split("\n\\s*\n")) {
            List<String> lines = block.lines()
                    .filter(line -> !line.startsWith("#"))
                    .filter(line -> !line.isBlank())
                    .toList();
            try {
                table.block(lines);
            } catch (RuntimeException e) {
                throw new IllegalArgumentException("rows of " + whose + ": " + e.getMessage() + " in\n" + block, e);
            }
        }
        return table.rows;
    }

    private String computed(String text) {
        String known = Pattern.compile("\\$(\\w+)")
                .matcher(text)
                .replaceAll(word ->
                        Matcher.quoteReplacement(bench.values().getOrDefault(word.group(1), "no $" + word.group(1))));
        return PRODUCT.matcher(known)
                .replaceAll(pair -> Long.toString(Long.parseLong(pair.group(1)) * Long.parseLong(pair.group(2))));
    }

    private void block(List<String> lines) {
        List<String> heads =
                holding(lines).stream().filter(line -> line.startsWith(ROW)).toList();
        String body = String.join(
                "\n",
                holding(lines).stream().filter(line -> !line.startsWith(ROW)).toList());
        for (String head : heads) {
            for (String row : expand(head + "\n" + body, "\n")) {
                List<String> all = row.lines().toList();
                row(cells(all.get(0).substring(ROW.length())), all.subList(1, all.size()));
            }
        }
    }

    /** Returns the lines whose conditions hold, without these. */
    private List<String> holding(List<String> lines) {
        List<String> left = new ArrayList<>();
        for (String line : lines) {
            int end = line.startsWith("[") ? line.indexOf(']') : 0;
            if (end == 0 || List.of(line.substring(1, end).split(" ")).stream().allMatch(bench::holds)) {
                left.add(end == 0 ? line : line.substring(end + 1).trim());
            }
        }
        return left;
    }

    /** Chooses for the braces before a delimiter. */
    private static List<String> expand(String text, String end) {
        Matcher choice = CHOICE.matcher(text);
        if (!choice.find() || choice.start() >= (text + end).indexOf(end)) {
            return List.of(text);
        }
        List<String> expanded = new ArrayList<>();
        for (String value : choice.group(2).split(";")) {
            String chosen = text.replace(choice.group(), value).replace("{" + choice.group(1) + "}", value);
            expanded.addAll(expand(chosen, end));
        }
        return expanded;
    }

    private static List<String> cells(String line) {
        return List.of(line.split(" *\\| *"));
    }

    private void row(List<String> head, List<String> body) {
        String name = head.get(0);
        List<String> flags = List.of(head.get(1).split(" "));
        String words = head.size() > 2 ? head.get(2) : "";
        if (flags.get(0).equals("own")) {
            rows.add(bench.row(name, Order.of(words)));
            return;
        }
        Map<String, Rounds.Factory> contenders = new LinkedHashMap<>();
        List<Comparison> comparisons = new ArrayList<>();
        for (String written : body) {
            for (String line : expand(written, "\n")) {
                if (line.startsWith("> ")) {
                    comparisons.add(comparison(name, cells(line.substring(2))));
                } else {
                    List<String> cells = cells(line);
                    Order order = Order.of(cells.get(1) + " " + words);
                    contenders.put(cells.get(0), () -> bench.open(order));
                }
            }
        }
        Rounds rounds =
                new Rounds(name, Unit.valueOf(flags.get(0)), contenders, comparisons, flags.contains("by-name"));
        rows.add(flags.contains("alone") ? new OneByOne(rounds) : rounds);
    }

    private static Comparison comparison(String row, List<String> cells) {
        String[] goal = cells.get(3).split(" ", 3);
        String mode = goal.length > 2 ? goal[2] : Mode.DEFAULT.toString();
        String label = cells.get(0).replace("~", row);
        return new Comparison(
                label, mode, cells.get(1), cells.get(2), Kind.valueOf(goal[0]), value(goal[1].split("(?=[*/])")));
    }

    /** Returns a number, or a number times or by another. */
    private static double value(String[] terms) {
        double value = Double.parseDouble(terms[0]);
        if (terms.length == 1) {
            return value;
        }
        double other = Double.parseDouble(terms[1].substring(1));
        return terms[1].startsWith("*") ? value * other : value / other;
    }

    /** Contenders of which only one can be there at a time. */
    private record OneByOne(Rounds rounds) implements Row {

        @Override
        public String name() {
            return rounds.name();
        }

        @Override
        public boolean isOnlyByName() {
            return rounds.isOnlyByName();
        }

        @Override
        public Report run(Settings settings, boolean busy) throws Exception {
            Report report = Report.of(List.of());
            for (Map.Entry<String, Rounds.Factory> each : rounds.contenders().entrySet()) {
                Map<String, Rounds.Factory> one = Map.of(each.getKey(), each.getValue());
                report = report.and(new Rounds(name(), rounds.unit(), one, List.of(), true).run(settings, busy));
            }
            return report;
        }
    }
}
