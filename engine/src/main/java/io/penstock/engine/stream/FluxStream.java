// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.Chunk;
import io.penstock.StreamPlan;
import io.penstock.engine.queue.DeliveryLoop;
import io.penstock.engine.queue.Port;
import java.util.Objects;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.Fuseable;
import reactor.core.publisher.Flux;

/** Streams files in chunks of device memory: {@link io.penstock.Backend#stream}. */
public final class FluxStream<T> extends Flux<T> implements Fuseable {

    private final Port port;
    private final StreamPlan plan;
    private final Function<? super Chunk, ? extends Publisher<? extends T>> use;

    public FluxStream(Port port, StreamPlan plan, Function<? super Chunk, ? extends Publisher<? extends T>> use) {
        this.port = port;
        this.plan = Objects.requireNonNull(plan, "plan");
        this.use = Objects.requireNonNull(use, "use");
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        DeliveryLoop.subscribe(port, plan.isDirectDelivery(), plan.depth(), actual, worker -> {
            StreamSubscription<T> subscription = new StreamSubscription<>(port, plan, use, actual, worker);
            actual.onSubscribe(subscription);
            subscription.start(plan.path(), plan.options());
        });
    }
}
