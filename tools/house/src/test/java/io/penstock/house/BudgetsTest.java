// SPDX-License-Identifier: Apache-2.0
package io.penstock.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.penstock.engine.spi.BadSpi;
import io.penstock.house.bad.BadCycle;
import io.penstock.house.bad.BadHelper;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the house may weigh: lines of main Java in each room, types of the contract, types that only make sense
 * together.
 */
class BudgetsTest {

    private static final Path ROOT = Path.of(System.getProperty("basedir", ""))
            .toAbsolutePath()
            .getParent()
            .getParent();

    /** Rooms that are within their budgets, which have 5 % to spare. */
    private static final Map<String, Integer> BUDGETS = Map.of(
            "engine/src/main/java/io/penstock/engine/spi/", 2_300,
            "backend-host/", 150,
            "backend-opencl-ssg/", 5_900,
            "backend-gl/", 4_500,
            "backend-nvme/", 5_100,
            "backend-hip/", 2_400,
            "integrations/lucene/", 1_600,
            "tck/", 6_100,
            "samples/(?!renderer/)", 2_050);

    /** A figure that has not been reached: what it is now, which it must not exceed, and what it shall be. */
    private record NotYet(int now, int goal) {}

    /** Rooms that are not within their budgets yet. Figures fall, and a room that has reached its goal moves up. */
    private static final Map<String, NotYet> NOT_YET = Map.ofEntries(
            Map.entry("", new NotYet(132_677, 104_000)),
            Map.entry("api/", new NotYet(8_132, 4_300)),
            Map.entry("engine/", new NotYet(30_186, 23_000)),
            Map.entry("(gpu|backend-cufile)/", new NotYet(10_302, 9_200)),
            Map.entry("backend-dx11/", new NotYet(4_138, 3_900)),
            Map.entry("formats/", new NotYet(11_543, 7_700)),
            Map.entry("remote/", new NotYet(9_651, 6_300)),
            Map.entry("integrations/(?!lucene/)", new NotYet(6_359, 5_200)),
            Map.entry("tools/cli/", new NotYet(8_020, 7_600)),
            Map.entry("tools/benchmarks/", new NotYet(8_050, 6_700)),
            Map.entry("samples/renderer/", new NotYet(8_499, 7_400)));

    /** Public types in the packages of {@code engine.spi}. */
    private static final int MOST_TYPES_OF_THE_CONTRACT = 24;

    private static final int MOST_TYPES_IN_A_KNOT = 12;

    /** Packages with a larger knot: its types now. */
    private static final Map<String, Integer> LARGER_KNOTS = Map.of();

    /** Returns the lines of each file of main Java below a folder, by its path from there. */
    private static Map<String, Integer> mainJava(Path root) throws IOException {
        Map<String, Integer> lines = new TreeMap<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = folder.getFileName().toString();
                return name.equals("target") || name.startsWith(".")
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                String name = root.relativize(file).toString().replace('\\', '/');
                if (name.endsWith(".java") && name.contains("/src/main/")) {
                    lines.put(name, Files.readAllLines(file).size());
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return lines;
    }

    private static int lines(Map<String, Integer> files, String room) {
        Pattern start = Pattern.compile(room);
        return files.entrySet().stream()
                .filter(file -> start.matcher(file.getKey()).lookingAt())
                .mapToInt(Map.Entry::getValue)
                .sum();
    }

    private static int withSpare(int budget) {
        return budget + budget / 20;
    }

    private static List<String> tooLarge(
            Map<String, Integer> files, Map<String, Integer> budgets, Map<String, NotYet> notYet) {
        List<String> wrong = new ArrayList<>();
        budgets.forEach((room, budget) -> {
            if (lines(files, room) > withSpare(budget)) {
                wrong.add(room + " has " + lines(files, room) + " lines, at most " + withSpare(budget));
            }
        });
        notYet.forEach((room, figure) -> {
            int lines = lines(files, room);
            if (lines > figure.now) {
                wrong.add(room + " has " + lines + " lines, at most " + figure.now + ", and " + figure.goal
                        + " in the end");
            } else if (lines <= withSpare(figure.goal) && !room.isEmpty()) {
                wrong.add(room + " has reached its goal: it belongs to BUDGETS");
            }
        });
        return wrong;
    }

    private static List<String> publicTypes(JavaClasses classes) {
        return classes.stream()
                .filter(type -> (type.getPackageName() + ".").startsWith("io.penstock.engine.spi."))
                .filter(type -> type.isTopLevelClass() && type.getModifiers().contains(JavaModifier.PUBLIC))
                .map(JavaClass::getName)
                .sorted()
                .toList();
    }

    /** Returns, by package, how many of its top-level types reach each other, for the largest such group. */
    private static Map<String, Integer> knots(JavaClasses classes) {
        Map<String, Set<String>> uses = new HashMap<>();
        for (JavaClass type : classes) {
            Set<String> used = uses.computeIfAbsent(topLevel(type), name -> new HashSet<>());
            type.getDirectDependenciesFromSelf().stream()
                    .map(dependency -> dependency.getTargetClass())
                    .filter(target -> target.getPackageName().equals(type.getPackageName()))
                    .forEach(target -> used.add(topLevel(target)));
        }
        Map<String, Set<String>> reached =
                uses.keySet().stream().collect(Collectors.toMap(name -> name, name -> reached(name, uses)));
        Map<String, Integer> largest = new TreeMap<>();
        reached.forEach((name, others) -> {
            long group = others.stream()
                    .filter(other -> reached.getOrDefault(other, Set.of()).contains(name))
                    .count();
            largest.merge(name.substring(0, name.lastIndexOf('.')), (int) group, Math::max);
        });
        return largest;
    }

    private static String topLevel(JavaClass type) {
        return type.getName().replaceFirst("[$\\[].*", "");
    }

    private static Set<String> reached(String from, Map<String, Set<String>> uses) {
        Set<String> seen = new HashSet<>();
        List<String> next = new ArrayList<>(uses.get(from));
        while (!next.isEmpty()) {
            String name = next.remove(next.size() - 1);
            if (seen.add(name)) {
                next.addAll(uses.getOrDefault(name, Set.of()));
            }
        }
        return seen;
    }

    private static List<String> tooKnotted(Map<String, Integer> knots, Map<String, Integer> larger) {
        List<String> wrong = new ArrayList<>();
        knots.forEach((place, types) -> {
            if (types > larger.getOrDefault(place, MOST_TYPES_IN_A_KNOT)) {
                wrong.add(place + ": " + types + " types reach each other");
            }
        });
        larger.forEach((place, types) -> {
            if (knots.getOrDefault(place, 0) < types) {
                wrong.add(place + ": its figure falls from " + types + " to " + knots.getOrDefault(place, 0));
            }
        });
        return wrong;
    }

    @Test
    void everyRoomIsWithinItsBudget() throws IOException {
        assertThat(tooLarge(mainJava(ROOT), BUDGETS, NOT_YET)).isEmpty();
    }

    @Test
    void theContractIsSmall() {
        List<String> types = publicTypes(HouseRulesTest.OURS);
        assertThat(types)
                .contains("io.penstock.engine.spi.Request")
                .hasSizeLessThanOrEqualTo(MOST_TYPES_OF_THE_CONTRACT);
    }

    @Test
    void noPackageHasALargeKnot() {
        assertThat(tooKnotted(knots(HouseRulesTest.OURS), LARGER_KNOTS)).isEmpty();
    }

    @Test
    void aRoomThatGrowsAndARoomThatHasReachedItsGoalAreFound(@TempDir Path root) throws IOException {
        Path folder = Files.createDirectories(root.resolve("room/src/main/java"));
        Files.writeString(folder.resolve("X.java"), "\n".repeat(106));
        Files.writeString(
                Files.createDirectories(root.resolve("room/target/src/main")).resolve("X.java"), "\n");
        Map<String, Integer> files = mainJava(root);
        assertThat(tooLarge(files, Map.of("room/", 101), Map.of())).isEmpty();
        assertThat(tooLarge(files, Map.of("room/", 100), Map.of())).containsExactly("room/ has 106 lines, at most 105");
        assertThat(tooLarge(files, Map.of(), Map.of("room/", new NotYet(106, 90))))
                .isEmpty();
        assertThat(tooLarge(files, Map.of(), Map.of("room/", new NotYet(105, 90))))
                .hasSize(1);
        assertThat(tooLarge(files, Map.of(), Map.of("room/", new NotYet(110, 101))))
                .hasSize(1);
    }

    @Test
    void aTypeMoreInTheContractIsCounted() {
        assertThat(publicTypes(new ClassFileImporter().importClasses(BadSpi.class, BadHelper.class)))
                .containsExactly(BadSpi.class.getName());
    }

    @Test
    void aKnotIsFoundAndOneThatBecameSmallerToo() {
        Map<String, Integer> knots = knots(new ClassFileImporter().importClasses(BadCycle.class, BadHelper.class));
        String place = BadCycle.class.getPackageName();
        assertThat(knots).isEqualTo(Map.of(place, 2));
        assertThat(tooKnotted(Map.of(place, 13), Map.of())).hasSize(1);
        assertThat(tooKnotted(knots, Map.of(place, 2))).isEmpty();
        assertThat(tooKnotted(knots, Map.of(place, 3))).hasSize(1);
    }
}
