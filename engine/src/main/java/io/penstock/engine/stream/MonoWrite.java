// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.Chunk;
import io.penstock.WritePlan;
import io.penstock.engine.queue.DeliveryLoop;
import io.penstock.engine.queue.Port;
import java.util.Objects;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/** Writes chunks of device memory, filled by the application, to a file: {@link io.penstock.Backend#write}. */
public final class MonoWrite extends Mono<Long> {

    private final Port port;
    private final WritePlan plan;
    private final Function<? super Chunk, ? extends Publisher<Long>> fill;

    public MonoWrite(Port port, WritePlan plan, Function<? super Chunk, ? extends Publisher<Long>> fill) {
        this.port = port;
        this.plan = Objects.requireNonNull(plan, "plan");
        this.fill = Objects.requireNonNull(fill, "fill");
    }

    @Override
    public void subscribe(CoreSubscriber<? super Long> actual) {
        DeliveryLoop.subscribe(port, false, plan.depth(), actual, worker -> {
            WriteSubscription subscription = new WriteSubscription(port, plan, fill, actual, worker);
            actual.onSubscribe(subscription);
            subscription.start(plan.path(), plan.options());
        });
    }
}
