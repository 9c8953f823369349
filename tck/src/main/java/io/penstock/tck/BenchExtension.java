// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import io.penstock.Backends;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.opentest4j.TestAbortedException;

/**
 * Creates the {@link Bench} of each test, clears it afterwards, and then checks for leaks. Once {@value #MOST_ALIKE}
 * tests of a class have failed alike, the others of that class are skipped: they would show nothing new.
 */
public final class BenchExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {

    private static final ExtensionContext.Namespace HERE = ExtensionContext.Namespace.create(BenchExtension.class);
    private static final Duration LEAK_PATIENCE = Duration.ofSeconds(20);

    /** Creates the extension; for JUnit. */
    public BenchExtension() {}

    /** How many failures of one kind a class of tests may have before the rest of it is skipped. */
    static final int MOST_ALIKE = 10;

    /** The failures of one class of tests, by kind of failure and the place in the toolkit that detected it. */
    private static final class Failures {

        private final Map<String, Integer> alike = new HashMap<>();
        private int all;

        void add(Throwable failure) {
            alike.merge(kind(failure), 1, Integer::sum);
            all++;
        }

        /**
         * Tests differ in their names and numbers: failures are alike if they occurred in the same place of the
         * toolkit.
         */
        private static String kind(Throwable failure) {
            String prefix = BenchExtension.class.getPackageName() + ".";
            for (StackTraceElement frame : failure.getStackTrace()) {
                if (frame.getClassName().startsWith(prefix)) {
                    String place = frame.getClassName().substring(prefix.length()) + "." + frame.getMethodName();
                    return failure.getClass().getSimpleName() + " in " + place;
                }
            }
            return failure.getClass().getSimpleName();
        }

        void skipIfTooMany() {
            alike.forEach((kind, count) -> {
                if (count >= MOST_ALIKE) {
                    throw new TestAbortedException("not run: " + count + " tests of this class failed alike: " + kind);
                }
            });
        }
    }

    private record Place(Bench bench, LeakProbe probe, Map<String, Long> before) {}

    @Override
    public void beforeEach(ExtensionContext context) {
        Failures failures = failures(context);
        failures.skipIfTooMany();
        Bench.afterFailures(failures.all);
        TckSubject subject = ((Rules) context.getRequiredTestInstance()).subject();
        LeakProbe probe = new LeakProbe(subject);
        warmUp(context, subject);
        context.getStore(HERE).put(Place.class, new Place(new Bench(subject), probe, probe.count()));
    }

    /**
     * Resources that the process keeps once a backend was opened (I/O queues, class data), or once all providers were
     * probed (a CUDA driver keeps device files open), are not leaks of the first test.
     */
    private static void warmUp(ExtensionContext context, TckSubject subject) {
        ExtensionContext.Store store = context.getRoot().getStore(HERE);
        if (store.get(context.getRequiredTestClass()) == null) {
            store.put(context.getRequiredTestClass(), true);
            Backends.list();
            Bench bench = new Bench(subject);
            try {
                bench.letOthersRun();
            } finally {
                bench.clear();
            }
        }
    }

    private static Failures failures(ExtensionContext context) {
        String key = context.getRequiredTestClass().getName();
        return Objects.requireNonNull(
                context.getRoot().getStore(HERE).getOrComputeIfAbsent(key, name -> new Failures(), Failures.class));
    }

    @Override
    public void afterEach(ExtensionContext context) {
        Throwable thrown = context.getExecutionException().orElse(null);
        if (thrown != null && !(thrown instanceof TestAbortedException)) {
            failures(context).add(thrown);
        }
        Place place = context.getStore(HERE).remove(Place.class, Place.class);
        if (place == null) { // the subject skipped or failed the test before it had a bench
            return;
        }
        try {
            place.bench.clear();
            if (thrown == null) { // otherwise a leak would hide the failure
                place.probe.awaitNoMoreThan(place.before, leakPatience());
            }
        } catch (AssertionError left) {
            failures(context).add(left);
            throw left;
        }
    }

    private static Duration leakPatience() {
        return Bench.patience().compareTo(LEAK_PATIENCE) < 0 ? Bench.patience() : LEAK_PATIENCE;
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Bench.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return Objects.requireNonNull(context.getStore(HERE).get(Place.class, Place.class), "no bench").bench;
    }
}
