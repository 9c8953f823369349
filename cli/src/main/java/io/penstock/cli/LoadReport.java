// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.formats.DeviceArray;
import io.penstock.formats.LoadedArrays;
import java.io.PrintWriter;
import java.io.StringWriter;
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
        }
        LoadTargets.Target first = targets.targets().get(0);
        int devices = targets.targets().size();
        out.print(String.format(
                Locale.ROOT,
                "loaded %s, %s, in %.3f s at %s, path %s, backend %s%s%s",
                Counted.of(
                        targets.targets().stream()
                                .mapToInt(target -> target.loaded().arrays().size())
                                .sum(),
                        "array"),
                Counted.of(targets.bytes(), "byte"),
                targets.nanos() / 1e9,
                Progress.rate(targets.bytes(), targets.nanos()),
                paths(first.loaded()),
                first.backend().name(),
                devices > 1 ? ", " + devices + " devices" : "",
                first.isVerified() ? "; verified" : ""));
        return text.toString();
    }

    private static void table(PrintWriter out, LoadedArrays loaded, Map<String, String> sums) {
        String[] heading = {"name", "type", "shape", "bytes", "offset", sums.isEmpty() ? "" : "CRC-32C"};
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

    /** Returns an object; with several devices an array of them. */
    static String json(LoadTargets targets) {
        String all = targets.targets().stream().map(LoadReport::json).collect(Collectors.joining(",\n"));
        return targets.targets().size() == 1
                ? all
                : "{\n\"bytes\": " + targets.bytes() + ",\n\"nanos\": " + targets.nanos() + ",\n\"devices\": [\n" + all
                        + "\n]}";
    }

    private static String json(LoadTargets.Target target) {
        LoadedArrays loaded = target.loaded();
        Map<String, String> sums = target.sums();
        String arrays = loaded.arrays().stream()
                .map(array -> json(array, sums))
                .collect(Collectors.joining(",\n    ", "[\n    ", "\n  ]"));
        return "{\n  \"backend\": " + JsonText.quoted(target.backend().name())
                + (target.name().isEmpty() ? "" : ",\n  \"device\": " + JsonText.quoted(target.name()))
                + ",\n  \"path\": " + JsonText.quoted(paths(loaded))
                + ",\n  \"bytes\": " + loaded.bytes()
                + ",\n  \"nanos\": " + loaded.nanos()
                + ",\n  \"verified\": " + target.isVerified()
                + ",\n  \"arrays\": " + (loaded.arrays().isEmpty() ? "[]" : arrays) + "\n}";
    }

    private static String json(DeviceArray array, Map<String, String> sums) {
        JsonText json = new JsonText()
                .with("name", array.name())
                .with("type", array.type().name())
                .with("shape", array.shape())
                .with("bytes", array.bytes())
                .with("offset", array.region().offset());
        return (sums.isEmpty() ? json : json.with("crc32c", sums.getOrDefault(array.name(), ""))).toString();
    }
}
