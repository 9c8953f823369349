// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Option;
import io.penstock.cli.bench.Sweep;
import io.penstock.cli.bench.SweepChart;
import io.penstock.file.PartFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * What {@code penstock bench --sweep} prints, and the files that it writes.
 *
 * @param pattern how the blocks of the file were accessed
 */
record SweepReport(Path file, String backend, String pattern, Sweep.Result result) {

    private static final int BAR = 32;
    private static final char FULL = Charset.defaultCharset().newEncoder().canEncode('█') ? '█' : '#';

    private static Path properties(String out) {
        return Path.of(out + ".properties");
    }

    private static Path chart(String out) {
        return Path.of(out + ".png");
    }

    /** Throws if the files cannot be written, before it is known what they will contain. */
    static void checkWritable(String out, boolean force) throws IOException {
        for (Path written : List.of(properties(out), chart(out))) {
            if (!force && Files.exists(written)) {
                throw new IOException(written + " exists; --force replaces it, --out names another");
            }
            PartFile.folder(written);
            PartFile.checkReplaceable(written);
        }
    }

    /** Writes the options, and the chart if this Java can draw it; returns which files were written. */
    String write(String out, boolean force, Consumer<String> complain) throws IOException {
        try (PartFile best = PartFile.create(properties(out), force, null)) {
            best.fill(part -> Files.writeString(part, properties()));
            best.commit();
        }
        try (PartFile png = PartFile.create(chart(out), force, null)) {
            png.fill(part -> SweepChart.write(result, pattern + " of " + file.getFileName(), part));
            png.commit();
            return "wrote " + properties(out) + " and " + chart(out);
        } catch (IOException e) {
            complain.accept(Complaint.of(e));
            return "wrote " + properties(out);
        }
    }

    String text() {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        TextTable transfers = new TextTable(Set.of(0, 1, 2), "bytes", "in flight", "GB/s", "");
        for (Sweep.Point point : result.transfers()) {
            transfers.row(
                    Option.show(point.work().blockBytes()),
                    String.valueOf(point.work().depth()),
                    rate(point),
                    bar(point, result.transfers()));
        }
        transfers.print(out);
        out.println();
        List<String> names = List.copyOf(result.options().get(0).settings().keySet());
        TextTable options = new TextTable(Set.of(0, 1, 2), names.get(0), names.get(1), "GB/s", "");
        List<Sweep.Point> measured = new ArrayList<>(result.options());
        measured.add(0, result.best());
        for (Sweep.Point point : measured) {
            List<String> values = new ArrayList<>(point.settings().values());
            values.addAll(List.of("default", "default")); // where none is set
            options.row(values.get(0), values.get(1), rate(point), bar(point, measured));
        }
        options.print(out);
        out.println();
        out.println(bestTransfers());
        out.print(bestOptions());
        return text.toString();
    }

    private static String rate(Sweep.Point point) {
        return String.format(Locale.ROOT, "%.2f", point.figures().bytesPerSecond() / 1e9);
    }

    private static String bar(Sweep.Point point, List<Sweep.Point> all) {
        double most = all.stream()
                .mapToDouble(each -> each.figures().bytesPerSecond())
                .max()
                .orElseThrow();
        return String.valueOf(FULL)
                .repeat((int) Math.round(BAR * point.figures().bytesPerSecond() / most));
    }

    private String bestTransfers() {
        return "best: transfers of " + Option.show(result.best().work().blockBytes()) + ", "
                + result.best().work().depth() + " in flight: " + rate(result.best()) + " GB/s, path "
                + result.best().figures().paths().stream().map(String::valueOf).collect(Collectors.joining("+"))
                + ", backend " + backend;
    }

    private String bestOptions() {
        List<Double> ratios = result.ratios();
        String gain = String.format(
                Locale.ROOT,
                "%.2f times the defaults' rate (%.2f to %.2f in %d pairs)",
                result.gain(),
                ratios.get(0),
                ratios.get(ratios.size() - 1),
                ratios.size());
        return result.settings().isEmpty()
                ? "the best options are no better than the defaults: " + gain
                : "best options: " + result.settings() + ": " + gain;
    }

    /** Returns a file for {@code penstock.config}. */
    private String properties() {
        List<String> lines = new ArrayList<>();
        lines.add("# penstock bench --sweep " + TextTable.plain(file.toString()) + ", "
                + Instant.now().truncatedTo(ChronoUnit.SECONDS));
        lines.add(
                "# Read by the library if the property penstock.config or the variable PENSTOCK_CONFIG names this file.");
        lines.add("# " + bestTransfers()
                + ". Programs choose these: StreamPlan.chunkBytes and depth, SubmitOptions.inFlight.");
        lines.add("# " + bestOptions());
        result.settings().forEach((name, value) -> lines.add(name + "=" + value));
        return lines.stream().collect(Collectors.joining("\n", "", "\n"));
    }

    /** Returns an object: the points of both steps, and the best. */
    String json() {
        return new JsonText()
                .with("file", file.toString())
                .with("backend", backend)
                .with("transfers", points(result.transfers()))
                .with("options", points(result.options()))
                .with("best", point(result.best()))
                .with("settings", result.settings())
                .with("gain", result.gain(), 4)
                .lines();
    }

    private static List<JsonText> points(List<Sweep.Point> points) {
        return points.stream().map(SweepReport::point).toList();
    }

    private static JsonText point(Sweep.Point point) {
        return new JsonText()
                .with("blockBytes", point.work().blockBytes())
                .with("depth", point.work().depth())
                .with("settings", point.settings())
                .with("bytesPerSecond", Math.round(point.figures().bytesPerSecond()));
    }
}
