// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.penstock.spi.BackendProvider;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** A backend that is broken fails the rules, and the run ends soon. */
@Tag("once")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@Tag("slow")
class BrokenBackendTest {

    @TempDir
    Path folder;

    /** Remembers which rules were skipped. */
    private static final class Summary extends SummaryGeneratingListener {

        final Set<String> skipped = new HashSet<>();

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            super.executionFinished(test, result);
            if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
                skipped.add(result.getThrowable().map(Throwable::getMessage).orElse(""));
            }
        }
    }

    private Summary hold(Fault fault) throws IOException {
        Path named = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(named.resolve(BackendProvider.class.getName()), BrokenProvider.class.getName());
        Summary summary = new Summary();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(BrokenRules.class))
                .build();
        Thread current = Thread.currentThread();
        ClassLoader before = current.getContextClassLoader();
        URL[] services = {folder.toUri().toURL()};
        System.setProperty(Fault.PROPERTY, fault.name());
        try (URLClassLoader loader = new URLClassLoader(services, before)) {
            current.setContextClassLoader(loader);
            LauncherFactory.create(LauncherConfig.builder()
                            .enableTestExecutionListenerAutoRegistration(false)
                            .addTestExecutionListeners(summary)
                            .build())
                    .execute(request);
        } finally {
            current.setContextClassLoader(before);
            System.clearProperty(Fault.PROPERTY);
            HeapMemory.LIVE.set(0);
        }
        return summary;
    }

    @ParameterizedTest
    @EnumSource
    void aBrokenBackendFailsItsTestsAndIsNotRetriedForever(Fault fault) throws IOException {
        Summary summary = hold(fault);
        assertThat(summary.getSummary().getTotalFailureCount()).isPositive();
        assertThat(summary.skipped)
                .anyMatch(reason -> reason.startsWith("not run: 10 tests of this class failed alike"));
    }
}
