// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

/** A resource is closed exactly once, before the end is signalled, and whenever the subscriber cancels. */
class MonoWithTest {

    private final Resource resource = new Resource();
    private final List<Object> discarded = new ArrayList<>();
    private final TestSubscriber<String> subscriber = TestSubscriber.builder()
            .contextPut("reactor.onDiscard.local", (java.util.function.Consumer<Object>) discarded::add)
            .build();

    private static final class Resource implements AutoCloseable {
        int closes;
        RuntimeException failure;

        @Override
        public void close() {
            closes++;
            if (failure != null) {
                throw failure;
            }
        }
    }

    private Mono<String> with(Mono<Resource> opening, Function<Resource, Mono<String>> use) {
        return MonoWith.of(opening, use);
    }

    @Test
    void theResourceIsClosedBeforeTheValueIsSignalled() {
        List<Integer> closes = new ArrayList<>();
        with(Mono.just(resource), r -> Mono.just("a"))
                .doOnNext(v -> closes.add(resource.closes))
                .subscribe(subscriber);
        assertThat(subscriber.getReceivedOnNext()).containsExactly("a");
        assertThat(subscriber.isTerminatedComplete()).isTrue();
        assertThat(closes).containsExactly(1);
        assertThat(resource.closes).isOne();
    }

    @Test
    void anEmptyUseCompletesAndAFailedOneFails() {
        with(Mono.just(resource), r -> Mono.empty()).subscribe(subscriber);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
        TestSubscriber<String> failing = TestSubscriber.create();
        with(Mono.just(resource), r -> Mono.error(new IllegalStateException("no")))
                .subscribe(failing);
        assertThat(failing.expectTerminalError()).hasMessage("no");
        assertThat(resource.closes).isEqualTo(2);
    }

    @Test
    void aFunctionThatThrowsOrReturnsNullFails() {
        with(Mono.just(resource), r -> {
                    throw new IllegalStateException("thrown");
                })
                .subscribe(subscriber);
        assertThat(subscriber.expectTerminalError()).hasMessage("thrown");
        TestSubscriber<String> none = TestSubscriber.create();
        with(Mono.just(resource), r -> null).subscribe(none);
        assertThat(none.expectTerminalError()).hasMessageContaining("null");
        assertThat(resource.closes).isEqualTo(2);
    }

    /** Reactor throws it, where another error would be signalled. */
    @Test
    void anErrorOfLinkingClosesTheResource() {
        with(Mono.just(resource), r -> {
                    throw new UnsatisfiedLinkError("function");
                })
                .subscribe(subscriber);
        assertThat(subscriber.expectTerminalError()).hasMessage("function");
        TestSubscriber<String> lazy = TestSubscriber.create();
        with(
                        Mono.just(resource),
                        r -> Mono.fromCallable(() -> {
                            throw new UnsatisfiedLinkError("publisher");
                        }))
                .subscribe(lazy);
        assertThat(lazy.expectTerminalError()).hasMessage("publisher");
        assertThat(resource.closes).isEqualTo(2);
    }

    @Test
    void aFailureToOpenIsPropagated() {
        with(Mono.error(new IllegalStateException("absent")), r -> Mono.just("a"))
                .subscribe(subscriber);
        assertThat(subscriber.expectTerminalError()).hasMessage("absent");
    }

    @Test
    void aFailureToCloseIsTheResultOrIsSuppressed() {
        resource.failure = new IllegalStateException("close");
        with(Mono.just(resource), r -> Mono.just("a")).subscribe(subscriber);
        assertThat(subscriber.expectTerminalError()).hasMessage("close");
        assertThat(discarded).containsExactly("a");
        TestSubscriber<String> failing = TestSubscriber.create();
        with(Mono.just(resource), r -> Mono.error(new IllegalStateException("use")))
                .subscribe(failing);
        assertThat(failing.expectTerminalError()).hasMessage("use").hasSuppressedException(resource.failure);
    }

    @Test
    void nothingIsOpenedBeforeDemand() {
        TestPublisher<Resource> opening = TestPublisher.create();
        TestSubscriber<String> lazy = TestSubscriber.builder().initialRequest(0).build();
        with(opening.mono(), r -> Mono.just("a")).subscribe(lazy);
        opening.assertWasNotRequested();
        lazy.request(1);
        opening.assertWasRequested();
    }

    @Test
    void aCancelWhileItOpensCancelsTheOpeningAndClosesALateResource() {
        TestPublisher<Resource> opening =
                TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
        Mono.from(MonoWith.of(Mono.fromDirect(opening), r -> Mono.just("a"))).subscribe(subscriber);
        subscriber.cancel();
        opening.assertCancelled();
        opening.next(resource);
        assertThat(resource.closes).isOne();
        assertThat(subscriber.getReceivedOnNext()).isEmpty();
    }

    @Test
    void aCancelFromInsideTheFunctionClosesAndUsesNothing() {
        List<String> used = new ArrayList<>();
        with(Mono.just(resource), r -> {
                    subscriber.cancel();
                    return Mono.fromCallable(() -> {
                        used.add("a");
                        return "a";
                    });
                })
                .subscribe(subscriber);
        assertThat(resource.closes).isOne();
        assertThat(used).isEmpty();
        assertThat(subscriber.isTerminated()).isFalse();
    }

    @Test
    void aCancelInUseCancelsTheUseAndThenCloses() {
        List<Integer> closes = new ArrayList<>();
        Sinks.One<String> use = Sinks.one();
        with(Mono.just(resource), r -> use.asMono().doOnCancel(() -> closes.add(resource.closes)))
                .subscribe(subscriber);
        subscriber.cancel();
        subscriber.cancel();
        assertThat(closes).as("closes when the use was cancelled").containsExactly(0);
        assertThat(resource.closes).isOne();
        use.tryEmitValue("late");
        assertThat(subscriber.getReceivedOnNext()).isEmpty();
    }

    @Test
    void aValueThatACancelFindsIsDiscarded() {
        TestPublisher<String> use = TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
        with(Mono.just(resource), r -> Mono.fromDirect(use)).subscribe(subscriber);
        use.next("before");
        subscriber.cancel();
        assertThat(discarded).containsExactly("before");
        use.next("after");
        assertThat(discarded).containsExactly("before", "after");
        use.complete();
        assertThat(resource.closes).isOne();
    }

    @Test
    void theSubscribersContextReachesTheUse() {
        Mono<String> mono = with(Mono.just(resource), r -> Mono.deferContextual(c -> Mono.just(c.get("key"))));
        assertThat(mono.contextWrite(c -> c.put("key", "value")).block()).isEqualTo("value");
    }

    @Test
    void anErrorOfTheCloseIsSignalled() {
        AutoCloseable resource = () -> {
            throw new UnsatisfiedLinkError("vendorClose");
        };
        assertThatThrownBy(() -> Backend.using(
                                Mono.just(resource), r -> Mono.just(1).hide().publishOn(Schedulers.single()))
                        .block(Duration.ofSeconds(3)))
                .isInstanceOf(UnsatisfiedLinkError.class);
    }

    @Test
    void aCloseThatFailsAsTheUseDidIsSignalledOnce() {
        IllegalStateException lost = new IllegalStateException("lost");
        AutoCloseable resource = () -> {
            throw lost;
        };
        assertThatThrownBy(() -> Backend.using(Mono.just(resource), r -> Mono.error(lost))
                        .block(Duration.ofSeconds(3)))
                .isSameAs(lost);
    }
}
