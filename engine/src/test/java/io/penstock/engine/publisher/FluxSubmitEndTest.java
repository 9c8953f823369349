// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.penstock.Completion;
import io.penstock.FailedCompletion;
import io.penstock.SubmitOptions.Errors;
import io.penstock.Transfer;
import io.penstock.engine.queue.OpenTransfer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;
import reactor.util.context.Context;

class FluxSubmitEndTest extends SubmitFixture {

    @Test
    void theFirstFailureStopsTheRest() {
        TestSubscriber<Integer> subscriber = submit(reads(20), inFlight(4), 1);
        port.end();
        port.end();
        IllegalStateException failure = new IllegalStateException("EIO");
        port.fail(0, failure);
        port.manual.run();
        assertThat(subscriber.getReceivedOnNext())
                .as("delivered, as it came before")
                .containsExactly(0);
        assertThat(subscriber.expectTerminalError())
                .as("at once, without demand")
                .isSameAs(failure);
        assertThat(port.open).allMatch(OpenTransfer::isCancelled);
        assertThat(port.manual.workers).isZero();
    }

    @Test
    void orderedStopDoesNotWaitForTheGap() {
        TestSubscriber<Integer> subscriber = submit(reads(4), inFlight(4).ordered(), 10);
        IllegalStateException failure = new IllegalStateException("EIO");
        port.fail(3, failure);
        port.manual.run();
        assertThat(subscriber.expectTerminalError()).isSameAs(failure);
    }

    @Test
    void delayedErrorsComeAfterAllAndSuppressTheOthers() {
        TestSubscriber<Integer> subscriber = submit(reads(30), inFlight(4).errors(Errors.DELAY), 100);
        List<Exception> failures = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            if (i % 3 == 0) {
                port.end();
            } else {
                failures.add(new IllegalStateException("EIO " + i));
                port.fail(0, failures.get(failures.size() - 1));
            }
            assertThat(subscriber.isTerminated()).isFalse();
            port.manual.run();
        }
        assertThat(subscriber.getReceivedOnNext()).hasSize(10);
        assertThat(subscriber.expectTerminalError()).isSameAs(failures.get(0)).hasSuppressedException(failures.get(1));
        assertThat(subscriber.expectTerminalError().getSuppressed()).hasSize(16);
    }

    @Test
    void delayedErrorsNeedNoDemand() {
        TestSubscriber<Integer> subscriber = submit(reads(1), inFlight(4).errors(Errors.DELAY), 0);
        port.fail(0, new IllegalStateException("EIO"));
        port.manual.run();
        assertThat(subscriber.isTerminatedError()).isTrue();
    }

    @Test
    void materializedErrorsAreValues() {
        TestSubscriber<Completion> subscriber = TestSubscriber.create();
        new FluxSubmit(port, reads(2), inFlight(4).errors(Errors.MATERIALIZE)).subscribe(subscriber);
        IllegalArgumentException bug = new IllegalArgumentException("a buffer of another backend");
        port.open.remove(0).refuse(bug);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(2);
        assertThat(subscriber.getReceivedOnNext().get(0))
                .isInstanceOfSatisfying(
                        FailedCompletion.class,
                        failed -> assertThat(failed.error()).isSameAs(bug));
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void anErrorOfThePublisherWaitsForThoseInFlight() {
        IllegalStateException failure = new IllegalStateException("source");
        TestSubscriber<Integer> subscriber = submit(reads(2).concatWith(Flux.error(failure)), inFlight(8), 10);
        port.end();
        port.manual.run();
        assertThat(subscriber.isTerminated()).isFalse();
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(0, 1);
        assertThat(subscriber.expectTerminalError()).isSameAs(failure);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void aCancelAtAnyStepStopsEverything(int steps) {
        TestPublisher<Transfer> source = TestPublisher.create();
        TestSubscriber<Integer> subscriber = submit(source, inFlight(2), 100);
        int numbers = 0;
        for (int step = 0; step < steps; step++) {
            switch (step % 4) {
                case 0 -> source.next(read(numbers++));
                case 1 -> source.next(read(numbers++));
                case 2 -> port.endAll();
                default -> port.manual.run();
            }
        }
        int received = subscriber.getReceivedOnNext().size();
        subscriber.cancel();
        assertThat(port.open).allMatch(OpenTransfer::isCancelled);
        source.assertCancelled();
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(received);
        assertThat(subscriber.isTerminated()).isFalse();
        assertThat(port.manual.workers).as("workers given back").isZero();
    }

    @Test
    void aTransferThatIsSentWhileTheCancelRunsIsCancelledToo() {
        TestPublisher<Transfer> source = TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
        TestSubscriber<Integer> subscriber = submit(source, inFlight(2), 100);
        subscriber.cancel();
        source.next(read(0));
        assertThat(port.opens).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void aBadRequestIsAnError(long n) {
        List<Throwable> errors = new ArrayList<>();
        new FluxSubmit(port, reads(3), inFlight(8)).subscribe(new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                subscription.request(n);
            }

            @Override
            protected void hookOnError(Throwable throwable) {
                errors.add(throwable);
            }
        });
        port.manual.run();
        assertThat(errors).singleElement().isInstanceOf(IllegalArgumentException.class);
        assertThat(port.open).allMatch(OpenTransfer::isCancelled);
    }

    @Test
    void aPublisherThatSendsMoreThanRequestedEndsInAnError() {
        TestPublisher<Transfer> source = TestPublisher.createNoncompliant(TestPublisher.Violation.REQUEST_OVERFLOW);
        TestSubscriber<Integer> subscriber = submit(source, inFlight(2), 100);
        source.next(read(0), read(1), read(2));
        port.manual.run();
        assertThat(subscriber.expectTerminalError()).matches(Exceptions::isOverflow);
        assertThat(port.open).hasSize(2).allMatch(OpenTransfer::isCancelled);
    }

    @Test
    void nullsAreRefusedAsTheSpecificationRequires() {
        assertThatNullPointerException().isThrownBy(() -> new FluxSubmit(port, null, inFlight(2)));
        SubmitSubscription subscription = new SubmitSubscription(port, inFlight(2), TestSubscriber.create(), null);
        assertThatNullPointerException().isThrownBy(() -> subscription.onNext(null));
        assertThatNullPointerException().isThrownBy(() -> subscription.onError(null));
    }

    @Test
    void aSchedulerThatWasShutDownIsAnError() {
        port.scheduler = port.manual;
        TestSubscriber<Integer> subscriber = submit(reads(3), inFlight(8), 10);
        port.manual.run();
        port.manual.dispose();
        port.end();
        assertThat(subscriber.getReceivedOnNext()).as("on an I/O queue").isEmpty();
        assertThat(subscriber.expectTerminalError()).isInstanceOf(RejectedExecutionException.class);
        assertThat(port.open).allMatch(OpenTransfer::isCancelled);
    }

    @Test
    void aSubscriberThatThrowsStopsItsOwnStreamOnly() {
        List<Throwable> dropped = new ArrayList<>();
        IllegalStateException bug = new IllegalStateException("bug");
        TestSubscriber<Completion> subscriber = TestSubscriber.builder()
                .contextPut("reactor.onErrorDropped.local", (Consumer<Throwable>) dropped::add)
                .build();
        new FluxSubmit(port.direct(), reads(20), inFlight(4)).subscribe(new CoreSubscriber<>() {
            @Override
            public void onSubscribe(Subscription s) {
                s.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(Completion completion) {
                throw bug;
            }

            @Override
            public void onError(Throwable t) {
                throw new AssertionError(t);
            }

            @Override
            public void onComplete() {
                throw new AssertionError();
            }

            @Override
            public Context currentContext() {
                return subscriber.currentContext();
            }
        });
        port.end();
        assertThat(dropped).containsExactly(bug);
        assertThat(port.open).hasSize(3).allMatch(OpenTransfer::isCancelled);
    }

    /** Reactor throws these out of subscribe and request, and signals nothing. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 6})
    void aFatalErrorOfThePublisherIsSignalled(int good) {
        NoClassDefFoundError fatal = new NoClassDefFoundError("com/acme/Kernel");
        Flux<Transfer> transfers = reads(20).index((index, transfer) -> {
            if (index == good) {
                throw fatal;
            }
            return transfer;
        });
        TestSubscriber<Integer> subscriber = submit(transfers, inFlight(4), 100);
        for (int ended = 0; ended < good; ended++) {
            port.end();
            port.manual.run();
        }
        port.manual.run();
        assertThat(subscriber.expectTerminalError()).isSameAs(fatal);
        assertThat(port.manual.workers).isZero();
    }

    @Test
    void aPublisherThatThrowsBeforeItSubscribesIsSignalled() {
        UnsatisfiedLinkError fatal = new UnsatisfiedLinkError("no kernel");
        Flux<Transfer> transfers = Flux.defer(() -> {
            throw fatal;
        });
        TestSubscriber<Integer> subscriber = submit(transfers, inFlight(4), 100);
        port.manual.run();
        assertThat(subscriber.expectTerminalError()).isSameAs(fatal);
    }

    @Test
    void aPublisherWhoseCancelThrowsDoesNotKeepTheErrorBack() {
        Flux<Transfer> transfers = reads(20).doOnCancel(() -> {
            throw new NoClassDefFoundError("com/acme/Kernel");
        });
        TestSubscriber<Integer> subscriber = submit(transfers, inFlight(4), 10);
        IllegalStateException failure = new IllegalStateException("EIO");
        port.fail(0, failure);
        port.manual.run();
        assertThat(subscriber.expectTerminalError()).isSameAs(failure);
    }
}
