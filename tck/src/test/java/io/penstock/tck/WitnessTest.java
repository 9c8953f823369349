// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** The limits are a fraction of the patience that a wait for values has. */
class WitnessTest {

    @Test
    @Timeout(10)
    void valuesThatCannotComeAfterAnErrorAreNotWaitedFor() {
        Witness<Integer> witness =
                Witness.of(Flux.just(1, 2).concatWith(Flux.error(new IllegalStateException("broken"))));
        witness.awaitValues(2);
        assertThatThrownBy(() -> witness.awaitValues(1))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("broken");
    }

    @Test
    @Timeout(10)
    void valuesThatCannotComeAfterTheEndAreNotWaitedFor() {
        Witness<Integer> witness = Witness.of(Flux.just(1, 2));
        assertThatThrownBy(() -> witness.awaitValues(3))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("completions 1");
    }

    @Test
    void everyTerminalSignalCounts() {
        Witness<Integer> witness = Witness.of(subscriber -> {
            subscriber.onSubscribe(Operators.emptySubscription());
            subscriber.onNext(1);
            subscriber.onComplete();
            subscriber.onError(new IllegalStateException("behind the end"));
            subscriber.onError(new IllegalStateException("again"));
        });
        assertThat(witness.hasEnded()).isTrue();
        assertThat(witness.terminals()).isEqualTo(3);
        assertThat(witness.threads()).hasSize(4).containsOnly(Thread.currentThread());
        assertThatThrownBy(witness::error).isInstanceOf(AssertionError.class).hasMessageContaining("again");
        assertThatThrownBy(witness::value).isInstanceOf(AssertionError.class).hasMessageContaining("behind the end");
        assertThatThrownBy(witness::all).isInstanceOf(AssertionError.class).hasMessageContaining("behind the end");
    }

    @Test
    void anErrorIsNoSuccessAndASuccessNoError() {
        Witness<Object> failed = Witness.of(Mono.error(new IllegalStateException("broken")));
        assertThat(failed.error()).hasMessage("broken");
        assertThatThrownBy(failed::all).isInstanceOf(AssertionError.class);
        Witness<Integer> two = Witness.of(Flux.just(1, 2));
        assertThat(two.all()).containsExactly(1, 2);
        assertThatThrownBy(two::value).isInstanceOf(AssertionError.class);
        assertThatThrownBy(two::error).isInstanceOf(AssertionError.class);
    }

    @Test
    void anUnannouncedRequestIsNotMade() {
        List<Long> requests = new ArrayList<>();
        Witness<Integer> witness = Witness.of(Flux.just(1, 2, 3).doOnRequest(requests::add), 0);
        assertThat(requests).isEmpty();
        witness.request(2);
        assertThat(witness.values()).containsExactly(1, 2);
        assertThat(witness.hasEnded()).isFalse();
        assertThat(requests).containsExactly(2L);
    }
}
