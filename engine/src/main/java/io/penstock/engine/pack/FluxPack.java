// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.pack;

import io.penstock.Options;
import io.penstock.Pack;
import io.penstock.engine.queue.DeliveryLoop;
import io.penstock.engine.queue.Port;
import java.nio.file.Path;
import java.util.Objects;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;

/** Reads many small files, packed: {@link io.penstock.Backend#pack}. */
public final class FluxPack extends Flux<Pack> {

    private final Port port;
    private final Options options;
    private final Publisher<Path> paths;
    private final Pack.Plan plan;

    /** Creates it, for a backend with these options. */
    public FluxPack(Port port, Options options, Publisher<Path> paths, Pack.Plan plan) {
        this.port = port;
        this.options = options;
        this.paths = Objects.requireNonNull(paths, "paths");
        this.plan = Objects.requireNonNull(plan, "plan");
    }

    @Override
    public void subscribe(CoreSubscriber<? super Pack> actual) {
        DeliveryLoop.subscribe(port, plan.directDelivery(), plan.depth(), actual, worker -> {
            PackSubscription subscription = new PackSubscription(port, plan, actual, worker);
            PackLoop loop = new PackLoop(port, options, paths, plan, subscription);
            subscription.begin(loop);
        });
    }
}
