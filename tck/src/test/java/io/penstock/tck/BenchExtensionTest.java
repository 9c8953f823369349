// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;
import org.opentest4j.TestAbortedException;

class BenchExtensionTest {

    private static final String ENABLED = "penstock.test.bench-extension";

    @Test
    void aSubjectThatSkipsItsTestsBeforeTheyHaveABenchSkipsThem() {
        TestExecutionSummary summary = run(NoDevice.class);
        assertThat(summary.getFailures()).isEmpty();
        assertThat(summary.getTestsAbortedCount()).isEqualTo(1);
    }

    @Test
    void aSubjectThatFailsBeforeThereIsABenchIsTheOnlyFailure() {
        TestExecutionSummary summary = run(BrokenSubject.class);
        assertThat(summary.getFailures()).singleElement().satisfies(failure -> {
            assertThat(failure.getException()).hasMessage("no driver");
            assertThat(failure.getException().getSuppressed()).isEmpty();
        });
    }

    @Test
    void testsThatWouldFailLikeManyOthersAreSkipped() {
        TestExecutionSummary summary = run(AllFailAlike.class);
        assertThat(summary.getFailures()).hasSize(BenchExtension.MOST_ALIKE).allSatisfy(failure -> {
            assertThat(failure.getException()).hasMessage("no driver");
        });
        assertThat(summary.getTestsAbortedCount()).isEqualTo(5);
    }

    @Test
    void afterAFailureTestsAreLessPatient() {
        run(AllFailAlike.class);
        assertThat(Bench.patience()).isLessThan(Bench.PATIENCE);
        run(NoDevice.class);
        assertThat(Bench.patience()).isEqualTo(Bench.PATIENCE);
    }

    private static TestExecutionSummary run(Class<?> fixture) {
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(fixture))
                .build();
        System.setProperty(ENABLED, "true");
        try {
            LauncherFactory.create(LauncherConfig.builder()
                            .enableTestExecutionListenerAutoRegistration(false)
                            .addTestExecutionListeners(summary)
                            .build())
                    .execute(request);
        } finally {
            System.clearProperty(ENABLED);
        }
        return summary.getSummary();
    }

    /** Not a test of its own: surefire leaves static nested classes alone. */
    @EnabledIfSystemProperty(named = ENABLED, matches = "true")
    static class NoDevice implements Rules {
        @Override
        public TckSubject subject() {
            throw new TestAbortedException("no device here");
        }

        @Test
        void needsABench(Bench bench) {
            throw new AssertionError("ran in " + bench.path(""));
        }
    }

    /** As above. */
    @EnabledIfSystemProperty(named = ENABLED, matches = "true")
    static class BrokenSubject implements Rules {
        @Override
        public TckSubject subject() {
            throw new IllegalStateException("no driver");
        }

        @Test
        void needsABench(Bench bench) {
            throw new AssertionError("ran in " + bench.path(""));
        }
    }

    /** As above. */
    @EnabledIfSystemProperty(named = ENABLED, matches = "true")
    static class AllFailAlike implements Rules {
        @Override
        public TckSubject subject() {
            throw new IllegalStateException("no driver");
        }

        @RepeatedTest(BenchExtension.MOST_ALIKE + 5)
        void needsABench(Bench bench) {
            throw new AssertionError("ran in " + bench.path(""));
        }
    }
}
