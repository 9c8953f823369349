// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Chunk;
import io.penstock.StreamPlan;
import io.penstock.engine.FakePort;
import java.nio.file.Path;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.reactivestreams.Publisher;
import reactor.test.subscriber.TestSubscriber;

/** A stream over an engine that the test steps; nothing may be left of it. */
abstract class StreamFixture {

    final FakePort port = new FakePort(1000);
    final StreamPlan plan =
            StreamPlan.of(Path.of("weights.bin")).chunkBytes(100).depth(3);
    private long liveBefore;

    @BeforeEach
    void count() {
        liveBefore = Leases.live();
    }

    @AfterEach
    void nothingIsLeftBehind() {
        assertThat(Leases.live()).as("live leases").isEqualTo(liveBefore);
        assertThat(port.live()).as("buffers not closed").isZero();
        assertThat(port.manual.workers).as("workers not given back").isZero();
    }

    final <T> TestSubscriber<T> stream(
            StreamPlan plan, long demand, Function<? super Chunk, ? extends Publisher<? extends T>> use) {
        TestSubscriber<T> subscriber =
                TestSubscriber.builder().initialRequest(demand).build();
        new FluxStream<T>(port, plan, use).subscribe(subscriber);
        return subscriber;
    }

    static int first(Chunk chunk) {
        return chunk.view().get(0) & 0xff;
    }
}
