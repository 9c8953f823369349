// SPDX-License-Identifier: Apache-2.0
package io.penstock.house;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.penstock.engine.spi.IoPath;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is published as penstock-engine with the classifier testing: the gate of the TCK, and no test. */
class TestingJarTest {

    private Path testing;

    @BeforeEach
    void find() throws URISyntaxException {
        Path engine = Path.of(
                IoPath.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        String name = String.valueOf(engine.getFileName());
        assumeTrue(name.endsWith(".jar"), "this build does not package: verify does");
        testing = engine.resolveSibling(name.replace(".jar", "-testing.jar"));
    }

    @Test
    void theGateIsInItAndNothingElse() throws IOException {
        try (JarFile jar = new JarFile(testing.toFile())) {
            List<String> entries = jar.stream()
                    .filter(entry -> !entry.isDirectory())
                    .map(entry -> entry.getName())
                    .filter(entry -> !entry.startsWith("META-INF/maven/") && !entry.contains("$"))
                    .toList();
            assertThat(entries)
                    .containsExactlyInAnyOrder(
                            "META-INF/MANIFEST.MF",
                            "META-INF/services/io.penstock.engine.kit.PathFilter",
                            "META-INF/services/io.penstock.tck.GateProvider",
                            "io/penstock/engine/testing/HeldCommands.class",
                            "io/penstock/engine/testing/HoldingPath.class",
                            "io/penstock/engine/testing/HoldingPaths.class",
                            "io/penstock/engine/testing/package-info.class");
            for (String service : List.of("io.penstock.engine.kit.PathFilter", "io.penstock.tck.GateProvider")) {
                var listed = jar.getInputStream(jar.getEntry("META-INF/services/" + service));
                String provider = new String(listed.readAllBytes(), StandardCharsets.UTF_8).strip();
                assertThat(entries).contains(provider.replace('.', '/') + ".class");
            }
        }
    }

    @Test
    void itNeedsTheTckAndTheEngineOnlyAndNoJUnit() throws IOException {
        try (JarFile jar = new JarFile(testing.toFile())) {
            classes()
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java..",
                            "org.jspecify..",
                            "io.penstock",
                            "io.penstock.tck",
                            "io.penstock.engine.spi",
                            "io.penstock.engine.kit",
                            "io.penstock.engine.testing")
                    .andShould()
                    .onlyDependOnClassesThat()
                    .haveNameNotMatching(".*\\.testing\\.(CompiledFakes|FakeControl|UserProgram).*")
                    .check(new ClassFileImporter().importJar(jar));
        }
    }
}
