// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.formats.DeviceArray;
import io.penstock.formats.LoadedArrays;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What {@code penstock load} prints: a table of the arrays of each device, and how fast they got there. */
final class LoadReport {

    private LoadReport() {}

    static String text(LoadTargets targets) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        for (LoadTargets.Target target : targets.targets()) {
            if (!target.name().isEmpty()) {
                out.println(TextTable.plain(target.name()));
            }
            table(out, target.loaded(), target.sums());
            target.leftOut()
                    .forEach((name, reason) -> out.println(TextTable.plain("left out: " + name + ": " + reason)));
        }
        LoadTargets.Target first = targets.targets().get(0);
        int devices = targets.targets().size();
        out.print(String.format(
                Locale.ROOT,
                "loaded %s, %s, in %.3f s%s, path %s, backend %s%s%s",
                Counted.of(
                        targets.targets().stream()
                                .mapToInt(target -> target.loaded().arrays().size())
                                .sum(),
                        "array"),
                Counted.bytes(targets.bytes()),
                targets.nanos() / 1e9,
                Progress.at(targets.bytes(), targets.nanos()),
                paths(first.loaded()),
                first.backend().name(),
                devices > 1 ? ", " + devices + " devices" : "",
                first.isVerified() ? "; verified" : ""));
        return text.toString();
    }

    private static void table(PrintWriter out, LoadedArrays loaded, Map<String, String> sums) {
        String[] heading = {"name", "type", "shape", "bytes", "device offset", sums.isEmpty() ? "" : "CRC-32C"};
        TextTable table = new TextTable(Set.of(3, 4), heading);
        for (DeviceArray array : loaded.arrays()) {
            table.row(
                    TextTable.plain(array.name()),
                    array.type().name(),
                    array.shape().toString(),
                    String.valueOf(array.bytes()),
                    String.valueOf(array.region().offset()),
                    sums.getOrDefault(array.name(), ""));
        }
        table.print(out);
    }

    private static String paths(LoadedArrays loaded) {
        Stream<String> paths = loaded.paths().stream().map(String::valueOf).sorted();
        Stream<String> host = loaded.conversions().isEmpty()
                ? Stream.empty()
                : Stream.of(loaded.conversions().stream().collect(Collectors.joining(", ", "host memory (", ")")));
        String all = Stream.concat(paths, host).collect(Collectors.joining("+"));
        return all.isEmpty() ? "none" : all;
    }

    /** Returns an object; with several devices one that has an object for each. */
    static String json(LoadTargets targets) {
        List<JsonText> devices =
                targets.targets().stream().map(LoadReport::json).toList();
        return devices.size() == 1
                ? devices.get(0).lines()
                : new JsonText()
                        .with("bytes", targets.bytes())
                        .with("nanos", targets.nanos())
                        .with("devices", devices)
                        .lines();
    }

    private static JsonText json(LoadTargets.Target target) {
        LoadedArrays loaded = target.loaded();
        JsonText json = new JsonText().with("backend", target.backend().name());
        return (target.name().isEmpty() ? json : json.with("device", target.name()))
                .with("path", paths(loaded))
                .with("bytes", loaded.bytes())
                .with("nanos", loaded.nanos())
                .with("verified", target.isVerified())
                .with("leftOut", target.leftOut())
                .with(
                        "arrays",
                        loaded.arrays().stream()
                                .map(array -> json(array, target.sums()))
                                .toList());
    }

    private static JsonText json(DeviceArray array, Map<String, String> sums) {
        JsonText json = new JsonText()
                .with("name", array.name())
                .with("type", array.type().name())
                .with("shape", array.shape())
                .with("bytes", array.bytes())
                .with("deviceOffset", array.region().offset());
        return sums.isEmpty() ? json : json.with("crc32c", sums.getOrDefault(array.name(), ""));
    }
}
