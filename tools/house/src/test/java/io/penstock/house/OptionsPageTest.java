// SPDX-License-Identifier: Apache-2.0
package io.penstock.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Option;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.dx11.Dx11Options;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.backend.hip.HipOptions;
import io.penstock.backend.nvme.NvmeOptions;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.engine.kit.host.HostPath;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.spi.staging.StagingPath;
import io.penstock.remote.http.HttpOptions;
import io.penstock.remote.s3.S3Options;
import io.penstock.remote.ucx.UcxOptions;
import io.penstock.spi.BackendProvider;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Holds docs/options.md against the code, in both directions. */
class OptionsPageTest {

    private static final Path PAGE =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("../../docs/options.md");

    /** Every option constant of every module, by the name of the class that declares it. */
    static Map<String, List<Option<?>>> declared() throws IllegalAccessException {
        Map<String, List<Option<?>>> options = new TreeMap<>();
        for (var type : HouseRulesTest.OURS) {
            for (JavaField field : type.getFields()) {
                if (field.getRawType().isEquivalentTo(Option.class)
                        && field.getModifiers().contains(JavaModifier.STATIC)) {
                    options.computeIfAbsent(type.getSimpleName(), name -> new ArrayList<>())
                            .add((Option<?>) field.reflect().get(null));
                }
            }
        }
        return options;
    }

    private static String row(Option<?> option) {
        return "| `" + option.name() + "` | `" + option.variable() + "` | " + type(option.fallback()) + " | "
                + option.range() + " | " + Option.show(option.fallback()) + " | " + option.description() + " |";
    }

    private static String type(Object value) {
        if (value instanceof Enum<?>) {
            return "choice";
        }
        return Map.of(Integer.class, "number", Long.class, "bytes", Duration.class, "time", Boolean.class, "flag")
                .getOrDefault(value.getClass(), "text");
    }

    /** The rows of the page, by the class that their section names. */
    private static Map<String, List<String>> written() throws IOException {
        Map<String, List<String>> rows = new TreeMap<>();
        String section = "before any section";
        for (String line : Files.readAllLines(PAGE)) {
            if (line.startsWith("## ")) {
                section = line.replaceAll(".*`([^`]*)`.*", "$1");
            } else if (line.startsWith("| `penstock.")) {
                rows.computeIfAbsent(section, name -> new ArrayList<>()).add(line);
            }
        }
        return rows;
    }

    @Test
    void thePageMatchesTheCode() throws IOException, IllegalAccessException {
        Map<String, List<String>> expected = new TreeMap<>();
        declared()
                .forEach((type, options) -> expected.put(
                        type,
                        options.stream().map(OptionsPageTest::row).sorted().toList()));
        Map<String, List<String>> written = written();
        written.replaceAll((section, rows) -> rows.stream().sorted().toList());
        List<String> differences = new ArrayList<>();
        expected.forEach((type, rows) -> {
            List<String> section = written.getOrDefault(type, List.of());
            rows.stream()
                    .filter(row -> !section.contains(row))
                    .forEach(row -> differences.add("missing in the section of " + type + ": " + row));
            section.stream()
                    .filter(row -> !rows.contains(row))
                    .forEach(row -> differences.add("of no option of " + type + ": " + row));
        });
        assertThat(String.join("\n", differences)).as("docs/options.md").isEmpty();
        assertThat(written).containsOnlyKeys(expected.keySet());
    }

    @Test
    void everyOptionIsListedByItsClass() throws IllegalAccessException {
        Map<String, List<Option<?>>> declared = declared();
        assertThat(CommonOptions.all()).hasSameElementsAs(declared.get("CommonOptions"));
        assertThat(CufileOptions.all()).hasSameElementsAs(declared.get("CufileOptions"));
        assertThat(Dx11Options.all()).hasSameElementsAs(declared.get("Dx11Options"));
        assertThat(GlOptions.all()).hasSameElementsAs(declared.get("GlOptions"));
        assertThat(HipOptions.all()).hasSameElementsAs(declared.get("HipOptions"));
        assertThat(HostOptions.all()).hasSameElementsAs(declared.get("HostOptions"));
        assertThat(NvmeOptions.all()).hasSameElementsAs(declared.get("NvmeOptions"));
        assertThat(OpenClOptions.all()).hasSameElementsAs(declared.get("OpenClOptions"));
        assertThat(HttpOptions.all()).hasSameElementsAs(declared.get("HttpOptions"));
        assertThat(S3Options.all()).hasSameElementsAs(declared.get("S3Options"));
        assertThat(StagingOptions.all()).hasSameElementsAs(declared.get("StagingOptions"));
        assertThat(UcxOptions.all()).hasSameElementsAs(declared.get("UcxOptions"));
    }

    /** Without the module whose provider happens to name them too, they would be refused as unknown. */
    @Test
    void aProviderNamesTheOptionsOfThePathsThatItsBackendHas() {
        List<String> providers = new ArrayList<>();
        for (BackendProvider provider : ServiceLoader.load(BackendProvider.class)) {
            providers.add(provider.name());
            String room =
                    provider.getClass().getPackageName().replaceFirst("^(io\\.penstock\\.backend\\.[^.]+).*", "$1");
            if (uses(room, HostPath.class)) {
                assertThat(provider.options()).as(provider.name()).containsAll(HostOptions.all());
            }
            if (uses(room, StagingPath.class)) {
                assertThat(provider.options()).as(provider.name()).containsAll(StagingOptions.all());
            }
        }
        assertThat(providers).contains("host", "cufile", "hip", "opencl-ssg", "gl", "dx11", "nvme");
    }

    private static boolean uses(String room, Class<?> path) {
        return HouseRulesTest.OURS.stream()
                .filter(type -> (type.getPackageName() + ".").startsWith(room + "."))
                .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                .map(dependency -> dependency.getTargetClass())
                .anyMatch(target -> target.isEquivalentTo(path));
    }

    @Test
    void optionsOfTheAvailableBackendsAreOnThePage() throws IllegalAccessException {
        List<Option<?>> all = new ArrayList<>();
        declared().values().forEach(all::addAll);
        assertThat(all).containsAll(Backends.options());
    }

    @Test
    void optionsOfNoBackendAreOnThePageToo() throws IOException {
        assertThat(Files.readString(PAGE))
                .contains("`PENSTOCK_BACKEND`", "`penstock.backend`", "`PENSTOCK_CONFIG`", "`penstock.config`")
                .contains("`" + Require.VARIABLE + "`");
    }
}
