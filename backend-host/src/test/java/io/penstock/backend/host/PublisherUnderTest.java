// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.opentest4j.AssertionFailedError;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.PublisherVerification;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.TestEnvironment.ManualSubscriber;
import org.testng.SkipException;
import org.testng.annotations.Test;

/**
 * One publisher under the Reactive Streams TCK: its rules for publishers, required and optional, as tests of JUnit.
 *
 * <p>A rule that the TCK skips fails here, so that nothing goes unproved unseen. Left out from the start is what cannot
 * be asked: what the TCK itself names untested, rules about several elements of a publisher that has one at most, and
 * that two subscriptions see the same elements, since each has transfers of its own.
 */
final class PublisherUnderTest extends PublisherVerification<Object> {

    /** For a publisher that cannot be made to fail at once. */
    static final Supplier<Publisher<?>> NEVER_FAILS = () -> {
        throw new IllegalStateException("never asked");
    };

    private static final long PATIENCE_MILLIS = 30_000;
    private static final long SILENCE_MILLIS = 50; // how long to listen for signals that must not come
    private static final long GARBAGE_MILLIS = 0; // see required_spec313

    // As parts of the names of the rules; the TCK skips them, and with that they would fail here.
    private static final Set<String> OF_SEVERAL_ELEMENTS = Set.of(
            "createPublisher3",
            "spec101",
            "spec102",
            "spec103",
            "required_spec105",
            "spec302",
            "spec303",
            "spec306",
            "spec309",
            "spec312",
            "spec313",
            "spec317");
    private static final Set<String> OF_AN_ELEMENT =
            Set.of("createPublisher1", "spec107", "spec111_maySupport", "spec111_registered", "spec307");
    private static final Set<String> OF_A_FAILURE = Set.of("spec104", "spec109_mayReject");

    private final TestEnvironment environment;
    private final long most;
    private final LongFunction<Publisher<?>> some;
    private final Supplier<Publisher<?>> failed;

    private PublisherUnderTest(long most, LongFunction<Publisher<?>> some, Supplier<Publisher<?>> failed) {
        this(new TestEnvironment(PATIENCE_MILLIS, SILENCE_MILLIS, SILENCE_MILLIS), most, some, failed);
    }

    private PublisherUnderTest(
            TestEnvironment environment, long most, LongFunction<Publisher<?>> some, Supplier<Publisher<?>> failed) {
        super(environment, GARBAGE_MILLIS);
        this.environment = environment;
        this.most = most;
        this.some = some;
        this.failed = failed;
    }

    /** Returns the rules for a publisher of any number of elements. */
    static DynamicContainer many(String name, LongFunction<Publisher<?>> some, Supplier<Publisher<?>> failed) {
        return rules(name, Long.MAX_VALUE - 1, some, failed);
    }

    /** Returns the rules for a publisher of one element. */
    static DynamicContainer one(String name, Supplier<Publisher<?>> one, Supplier<Publisher<?>> failed) {
        return rules(name, 1, elements -> one.get(), failed);
    }

    /** Returns the rules for a publisher that only ends. */
    static DynamicContainer none(String name, Supplier<Publisher<?>> none, Supplier<Publisher<?>> failed) {
        return rules(name, 0, elements -> none.get(), failed);
    }

    private static DynamicContainer rules(
            String name, long most, LongFunction<Publisher<?>> some, Supplier<Publisher<?>> failed) {
        Stream<DynamicTest> rules = Arrays.stream(PublisherVerification.class.getMethods())
                .filter(method -> method.isAnnotationPresent(Test.class))
                .filter(method -> applies(method.getName(), most, failed != NEVER_FAILS))
                .sorted(Comparator.comparing(Method::getName))
                .map(rule -> DynamicTest.dynamicTest(
                        rule.getName(), () -> new PublisherUnderTest(most, some, failed).check(rule)));
        return DynamicContainer.dynamicContainer(name, rules);
    }

    private static boolean applies(String rule, long most, boolean fails) {
        return !rule.startsWith("untested_")
                && !rule.startsWith("optional_spec111_multicast")
                && (most > 1 || !isOneOf(OF_SEVERAL_ELEMENTS, rule))
                && (most > 0 || !isOneOf(OF_AN_ELEMENT, rule))
                && (fails || !isOneOf(OF_A_FAILURE, rule));
    }

    private static boolean isOneOf(Set<String> parts, String rule) {
        return parts.stream().anyMatch(rule::contains);
    }

    private void check(Method rule) throws Throwable {
        setUp();
        try {
            rule.invoke(this);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof SkipException skipped) {
                throw new AssertionFailedError("not proved: " + skipped.getMessage(), skipped);
            }
            throw e.getCause();
        }
    }

    @Override
    @SuppressWarnings("unchecked") // elements are only read
    public Publisher<Object> createPublisher(long elements) {
        return (Publisher<Object>) some.apply(elements);
    }

    @Override
    @SuppressWarnings("unchecked") // as above
    public Publisher<Object> createFailedPublisher() {
        return (Publisher<Object>) failed.get();
    }

    @Override
    public long maxElementsFromPublisher() {
        return most;
    }

    /**
     * The TCK's own sleeps, collects garbage once and then waits 100 ms for the reference, which are not always enough
     * where all processors are busy, and too long otherwise.
     */
    @Override
    public void required_spec313_cancelMustMakeThePublisherEventuallyDropAllReferencesToTheSubscriber()
            throws Throwable {
        activePublisherTest(3, false, publisher -> {
            WeakReference<?> subscriber = cancelled(publisher);
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
            while (subscriber.get() != null) {
                if (System.nanoTime() > end) {
                    environment.flop(
                            publisher + " still references its subscriber " + PATIENCE_MILLIS + " ms after the cancel");
                    break;
                }
                System.gc();
            }
            environment.verifyNoAsyncErrorsNoDelay();
        });
    }

    /** Returns a subscriber that has cancelled after its first element. */
    private WeakReference<ManualSubscriber<Object>> cancelled(Publisher<Object> publisher) throws InterruptedException {
        ManualSubscriber<Object> subscriber = environment.newManualSubscriber(publisher);
        subscriber.request(1);
        subscriber.nextElement();
        subscriber.cancel();
        return new WeakReference<>(subscriber);
    }

    /** The bound within which {@code request} may call {@code onNext} may call {@code request}. */
    @Override
    public long boundedDepthOfOnNextAndRequestRecursion() {
        return 1;
    }
}
