// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.opentest4j.TestAbortedException;

class SkipReportTest {

    private static final String ENABLED = "penstock.test.skip-report";

    @Test
    void everySkippedTestIsListedOnceWithItsReason(@TempDir Path directory) throws IOException {
        Files.writeString(
                directory.resolve("penstock-skipped.txt"),
                "Earlier.test(): stays\nSkipReportTest$Fixture.aborts(): replaced\n");
        ByteArrayOutputStream console = new ByteArrayOutputStream();
        run(directory, console);
        assertThat(console.toString(StandardCharsets.UTF_8))
                .isEqualToNormalizingNewlines("SKIPPED SkipReportTest$Fixture.aborts(): no device here\n");
        assertThat(directory.resolve("penstock-skipped.txt"))
                .hasContent("Earlier.test(): stays\nSkipReportTest$Fixture.aborts(): no device here");
    }

    private static void run(Path directory, ByteArrayOutputStream console) {
        SkipReport report = new SkipReport(directory, new PrintStream(console, true, StandardCharsets.UTF_8));
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(Fixture.class))
                .build();
        System.setProperty(ENABLED, "true");
        try {
            LauncherFactory.create(LauncherConfig.builder()
                            .enableTestExecutionListenerAutoRegistration(false)
                            .addTestExecutionListeners(report)
                            .build())
                    .execute(request);
        } finally {
            System.clearProperty(ENABLED);
        }
    }

    /** Not a test of its own: surefire leaves static nested classes alone. */
    @EnabledIfSystemProperty(named = ENABLED, matches = "true")
    static class Fixture {
        @Test
        void passes() {}

        @Test
        void aborts() {
            throw new TestAbortedException("no  device\n here");
        }
    }
}
