// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The tables of docs/results/pit.md, out of PIT's report:
 * {@code java .ci/PitTable.java engine/target/pit-reports/mutations.csv}. Noticed are edits that a test failed for, ran
 * out of time for, or crashed for.
 */
public class PitTable {

    private static final List<String> BY_TIME_OUT = List.of("TIMED_OUT");
    private static final List<String> NOTICED = List.of("KILLED", "TIMED_OUT", "MEMORY_ERROR", "RUN_ERROR");

    record Edit(String type, String method, String status) {

        static Edit of(String line) {
            String[] columns = line.split(",");
            return new Edit(columns[1].replaceAll("\\$.*", ""), columns[3], columns[5]);
        }

        String packageName() {
            return type.replaceAll("^io\\.penstock\\.|\\.\\w+$", "");
        }

        /** Packages of one subject together. */
        String room() {
            return packageName().replaceAll("^engine\\.host\\..*", "engine.host");
        }

        boolean isNoticed() {
            return NOTICED.contains(status);
        }
    }

    public static void main(String[] arguments) throws IOException {
        List<Edit> edits =
                Files.readAllLines(Path.of(arguments[0])).stream().map(Edit::of).toList();
        System.out.println("| package | edits | noticed | of these by a time-out | survived | not run | noticed |");
        System.out.println("|---|---|---|---|---|---|---|");
        Map<String, List<Edit>> rooms =
                edits.stream().collect(Collectors.groupingBy(Edit::room, TreeMap::new, Collectors.toList()));
        rooms.forEach((room, own) -> System.out.println(row("`" + room + "`", own)));
        System.out.println(row("**all**", edits));
        System.out.println("\n| class | methods |\n|---|---|");
        Map<String, List<Edit>> classes = edits.stream()
                .filter(edit -> !edit.isNoticed())
                .collect(Collectors.groupingBy(Edit::type, TreeMap::new, Collectors.toList()));
        classes.entrySet().stream()
                .sorted(Comparator.comparingInt(entry -> -entry.getValue().size()))
                .forEach(entry -> System.out.println("| `" + entry.getKey().replaceAll(".*\\.", "") + "` | "
                        + methods(entry.getValue()) + " |"));
    }

    private static long count(List<Edit> edits, List<String> statuses) {
        return edits.stream().filter(edit -> statuses.contains(edit.status)).count();
    }

    private static String row(String name, List<Edit> edits) {
        long noticed = count(edits, NOTICED);
        long notRun = count(edits, List.of("NO_COVERAGE"));
        return String.format(
                Locale.ROOT,
                "| %s | %d | %d | %d | %d | %d | %.1f %% |",
                name,
                edits.size(),
                noticed,
                count(edits, BY_TIME_OUT),
                edits.size() - noticed - notRun,
                notRun,
                100.0 * noticed / edits.size());
    }

    /** By method: how many survived, and, behind a plus, how many were not run. */
    private static String methods(List<Edit> edits) {
        Map<String, List<Edit>> methods =
                edits.stream().collect(Collectors.groupingBy(Edit::method, TreeMap::new, Collectors.toList()));
        return methods.entrySet().stream()
                .sorted(Comparator.comparingInt(entry -> -entry.getValue().size()))
                .map(entry -> {
                    long notRun = count(entry.getValue(), List.of("NO_COVERAGE"));
                    long survived = entry.getValue().size() - notRun;
                    return "`" + entry.getKey().replace("<init>", "new").replace("<clinit>", "static") + "` "
                            + (survived > 0 ? survived : "") + (notRun > 0 ? "+" + notRun : "");
                })
                .collect(Collectors.joining(", "));
    }
}
