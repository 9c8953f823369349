// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.Completion;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.engine.queue.DeliveryLoop;
import io.penstock.engine.queue.Port;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Flux;

/**
 * Many transfers, pipelined: {@link io.penstock.Backend#submit(Publisher, SubmitOptions)}.
 *
 * <p>At most {@code inFlight} transfers are between the publisher's {@code onNext} and the subscriber's; more are
 * requested from the publisher at the end of each turn that has delivered some, and amid one when a quarter has been
 * delivered.
 */
public final class FluxSubmit extends Flux<Completion> implements Scannable {

    private final Port port;
    private final Flux<Transfer> transfers;
    private final SubmitOptions options;

    public FluxSubmit(Port port, Publisher<Transfer> transfers, SubmitOptions options) {
        this.port = port;
        this.transfers = Flux.from(transfers); // throws here on null
        this.options = Objects.requireNonNull(options, "options");
    }

    @Override
    public void subscribe(CoreSubscriber<? super Completion> actual) {
        DeliveryLoop.subscribe(
                port,
                options.directDelivery(),
                options.inFlight(),
                actual,
                worker -> new SubmitSubscription(port, options, actual, worker).subscribeTo(transfers));
    }

    @Override
    @SuppressWarnings("rawtypes") // as declared by Scannable
    public @Nullable Object scanUnsafe(Attr key) {
        if (key == Attr.PARENT) {
            return transfers;
        }
        return key == Attr.PREFETCH ? options.inFlight() : null;
    }
}
