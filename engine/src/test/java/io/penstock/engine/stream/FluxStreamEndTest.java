// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.StorageFile;
import io.penstock.engine.FakeFence;
import io.penstock.engine.queue.OpenTransfer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

class FluxStreamEndTest extends StreamFixture {

    @Test
    void noBufferAtAllIsAnError() {
        port.most = 0;
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> Mono.just(chunk.index()));
        port.runAll();
        assertThat(subscriber.expectTerminalError()).hasMessage("no memory left");
        assertThat(port.file.closed).isTrue();
    }

    @Test
    void aFileThatCannotBeOpenedIsAnError() {
        port.opened = Mono.error(new NoSuchFileException("weights.bin"));
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> Mono.just(chunk.index()));
        port.runAll();
        assertThat(subscriber.expectTerminalError()).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void aReadThatFailsEndsTheStreamInItsTurn() {
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> Mono.just(chunk.index()));
        port.manual.run();
        IllegalStateException failure = new IllegalStateException("EIO");
        port.fail(1, failure);
        port.manual.run();
        assertThat(subscriber.isTerminated())
                .as("the chunk before it is still to come")
                .isFalse();
        port.end(0);
        port.manual.run();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(0L);
        assertThat(subscriber.expectTerminalError()).isSameAs(failure);
        assertThat(port.open).allMatch(OpenTransfer::isCancelled);
        assertThat(port.file.closed).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"throws", "null", "rogue", "error", "late"})
    void anErrorOfTheFunctionComesAfterTheEndOfAllLeases(String how) {
        FakeFence fence = new FakeFence();
        IllegalStateException failure = new IllegalStateException("render");
        Sinks.One<Long> late = Sinks.one();
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> {
            if (chunk.index() == 0) {
                return chunk.releaseAfter(fence).thenReturn(0L);
            }
            return switch (how) {
                case "throws" -> throw failure;
                case "null" -> null;
                case "rogue" ->
                    actual -> {
                        throw failure;
                    };
                case "error" -> Mono.error(failure);
                default -> late.asMono();
            };
        });
        port.runAll();
        late.tryEmitError(failure);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(0L);
        assertThat(subscriber.isTerminated()).as("before the fence is passed").isFalse();
        fence.pass();
        assertThat(fence.closed).isTrue();
        port.runAll();
        if (how.equals("null")) {
            assertThat(subscriber.expectTerminalError()).isInstanceOf(NullPointerException.class);
        } else {
            assertThat(subscriber.expectTerminalError()).isSameAs(failure);
        }
        assertThat(subscriber.getProtocolErrors()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
    void aCancelAtAnyStepGivesEverythingBack(int steps) {
        Sinks.One<StorageFile> file = Sinks.one();
        port.opened = file.asMono();
        List<TestPublisher<Long>> uses = new ArrayList<>();
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> {
            uses.add(TestPublisher.create());
            return uses.get(uses.size() - 1).flux();
        });
        for (int step = 0; step < steps; step++) {
            switch (step) {
                case 0, 2, 4, 6, 8 -> port.manual.run();
                case 1 -> file.tryEmitValue(port.file).orThrow();
                case 3 -> port.end(1);
                case 5 -> port.end(0);
                case 7 -> uses.get(0).emit(1L);
                default -> {}
            }
        }
        subscriber.cancel();
        assertThat(uses)
                .allSatisfy(use -> assertThat(use.wasCancelled() || steps > 7).isTrue());
        port.manual.run();
        assertThat(port.open).allMatch(OpenTransfer::isCancelled);
        port.runAll();
        assertThat(subscriber.isTerminated()).isFalse();
        assertThat(port.file.closed).isEqualTo(steps > 1);
    }

    @Test
    void aFileThatIsOpenedAfterTheCancelIsClosed() {
        TestPublisher<StorageFile> file =
                TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
        port.opened = new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super StorageFile> actual) {
                file.subscribe(actual);
            }
        };
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> Mono.just(1L));
        subscriber.cancel();
        file.assertCancelled();
        file.next(port.file);
        assertThat(port.file.closed).isTrue();
        port.runAll();
    }

    @Test
    void aCancelFromWithinAResultStopsAtThatResult() {
        List<Integer> received = new ArrayList<>();
        new FluxStream<Integer>(port, plan, chunk -> Flux.range(0, 10)).take(13).subscribe(received::add);
        port.runAll();
        assertThat(received).hasSize(13);
        assertThat(port.file.closed).isTrue();
    }

    @Test
    void aCancelWhileTheFunctionRunsEndsTheLeaseBehindIt() {
        List<TestSubscriber<Long>> self = new ArrayList<>();
        boolean[] subscribed = {false};
        self.add(TestSubscriber.create());
        new FluxStream<Long>(port, plan, chunk -> {
                    self.get(0).cancel();
                    assertThat(first(chunk)).as("still leased to the function").isZero();
                    return Mono.just(1L).doOnNext(x -> subscribed[0] = true);
                })
                .subscribe(self.get(0));
        port.runAll();
        assertThat(subscribed[0]).isFalse();
        assertThat(self.get(0).getReceivedOnNext()).isEmpty();
    }

    @Test
    void aBadRequestIsAnErrorAndEndsTheUse() {
        TestPublisher<Long> use = TestPublisher.create();
        List<Throwable> errors = new ArrayList<>();
        BaseSubscriber<Long> subscriber = new BaseSubscriber<>() {
            @Override
            protected void hookOnError(Throwable throwable) {
                errors.add(throwable);
            }
        };
        Subscription[] raw = {null};
        new FluxStream<Long>(port, plan, chunk -> use.flux())
                .doOnSubscribe(s -> raw[0] = s)
                .subscribe(subscriber);
        port.runAll();
        raw[0].request(0);
        port.runAll();
        assertThat(errors).singleElement().isInstanceOf(IllegalArgumentException.class);
        use.assertCancelled();
    }

    @Test
    void aSchedulerThatWasShutDownIsAnError() {
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> Mono.just(chunk.index()));
        port.manual.run();
        port.manual.dispose();
        port.end();
        assertThat(subscriber.isTerminatedError()).isTrue();
        assertThat(subscriber.getReceivedOnNext()).isEmpty();
    }
}
