// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.bench;

import io.penstock.Option;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;

/** A picture of a sweep: the rates of its two steps, one line for each depth and for each number of workers. */
public final class SweepChart {

    private static final int WIDTH = 800;
    private static final int HEIGHT = 400;

    private SweepChart() {}

    /**
     * Writes a PNG.
     *
     * @throws IOException if the file cannot be written, or if the JVM cannot draw text
     */
    public static void write(Sweep.Result result, String title, Path png) throws IOException {
        System.setProperty("java.awt.headless", "true");
        try (OutputStream out = Files.newOutputStream(png)) {
            XYChart transfers = chart(
                    result.transfers(),
                    title,
                    point -> point.work().depth() + " in flight",
                    point -> Option.show(point.work().blockBytes()));
            List<String> names = List.copyOf(result.options().get(0).settings().keySet());
            XYChart options = chart(
                    result.options(),
                    names.get(0) + " and " + names.get(1),
                    point -> point.settings().get(names.get(0)) + " workers",
                    point -> point.settings().get(names.get(1)));
            BitmapEncoder.saveBitmap(List.of(transfers, options), 2, 1, out, BitmapEncoder.BitmapFormat.PNG);
        } catch (LinkageError | InternalError | RuntimeException e) { // no fonts, or no java.desktop
            throw new IOException("no chart can be drawn by this Java: " + e, e);
        }
    }

    private static XYChart chart(
            List<Sweep.Point> points,
            String title,
            Function<Sweep.Point, String> line,
            Function<Sweep.Point, String> column) {
        Set<String> distinct = new LinkedHashSet<>();
        points.forEach(point -> distinct.add(column.apply(point)));
        List<String> columns = List.copyOf(distinct);
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle("bytes at a time")
                .yAxisTitle("GB/s")
                .build();
        chart.getStyler().setYAxisMin(0.0);
        chart.setCustomXAxisTickLabelsFormatter(
                at -> at == Math.rint(at) && at >= 0 && at < columns.size() ? columns.get(at.intValue()) : "");
        Map<String, double[]> lines = new LinkedHashMap<>();
        for (Sweep.Point point : points) {
            double[] rates = lines.computeIfAbsent(
                    line.apply(point),
                    name -> IntStream.range(0, columns.size())
                            .mapToDouble(i -> Double.NaN)
                            .toArray());
            rates[columns.indexOf(column.apply(point))] = point.rate() / 1e9;
        }
        double[] x = IntStream.range(0, columns.size()).asDoubleStream().toArray();
        lines.forEach((name, rates) -> chart.addSeries(name, x, rates));
        return chart;
    }
}
