// SPDX-License-Identifier: Apache-2.0
package io.penstock.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The site has the Javadoc of modules only: one without a descriptor would end {@code ./mvnw -Psite}. */
class SiteTest {

    private static final Path ROOT = Path.of(System.getProperty("basedir", ""))
            .toAbsolutePath()
            .getParent()
            .getParent();

    private static Stream<String> all(String text, String pattern) {
        return Pattern.compile(pattern, Pattern.DOTALL).matcher(text).results().map(SiteTest::group);
    }

    private static String group(MatchResult found) {
        return found.group(1);
    }

    @Test
    void modulesWithoutADescriptorAreNotInItsJavadoc() throws IOException {
        String pom = Files.readString(ROOT.resolve("pom.xml"));
        List<String> without = new ArrayList<>();
        for (String module : all(pom, "<module>([^<]*)</module>").toList()) {
            Path sources = ROOT.resolve(module).resolve("src/main");
            if (Files.exists(sources) && !Files.exists(sources.resolve("java/module-info.java"))) {
                String own = Files.readString(ROOT.resolve(module).resolve("pom.xml"));
                without.add(all(own, "</parent>.*?<artifactId>([^<]*)</artifactId>")
                        .findFirst()
                        .orElseThrow());
            }
        }
        String skipped =
                all(pom, "<skippedModules>([^<]*)</skippedModules>").findFirst().orElseThrow();
        assertThat(skipped.split(",")).containsExactlyInAnyOrderElementsOf(without);
    }
}
