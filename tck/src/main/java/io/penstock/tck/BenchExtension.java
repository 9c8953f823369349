// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import io.penstock.Backends;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives each test its {@link Bench}, clears that away afterwards, and then looks for leaks. */
public final class BenchExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {

    private static final ExtensionContext.Namespace HERE = ExtensionContext.Namespace.create(BenchExtension.class);
    private static final Duration LEAK_PATIENCE = Duration.ofSeconds(20);

    /** Makes one; for JUnit. */
    public BenchExtension() {}

    private record Place(Bench bench, LeakProbe probe, Map<String, Long> before) {}

    @Override
    public void beforeEach(ExtensionContext context) {
        TckSubject subject = ((Rules) context.getRequiredTestInstance()).subject();
        LeakProbe probe = new LeakProbe(subject);
        warmUp(context, subject);
        context.getStore(HERE).put(Place.class, new Place(new Bench(subject), probe, probe.count()));
    }

    /**
     * What the process keeps for good once a backend was open (lanes, class data), or once all providers were asked (a driver
     * of CUDA opens device files and keeps them), is no leak of the first test.
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

    @Override
    public void afterEach(ExtensionContext context) {
        Place place = Objects.requireNonNull(context.getStore(HERE).remove(Place.class, Place.class), "no bench");
        place.bench.clear();
        if (context.getExecutionException().isEmpty()) { // else its failure would be hidden behind what it left open
            place.probe.awaitNoMoreThan(place.before, LEAK_PATIENCE);
        }
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
