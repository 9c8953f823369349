// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import io.penstock.HostLease;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Fuseable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * Leases as what wraps them. As {@code map}, but fused across threads, which {@code map} refuses: until the subscriber
 * polls it, a lease is in the queue of the stream, whose cancel closes it. Behind {@code map} it would be in the queue
 * of {@code publishOn}, which may be dropped.
 */
public final class LeaseFlux<R> extends Flux<R> implements Fuseable {

    private final Flux<HostLease> leases;
    private final Function<? super HostLease, ? extends R> wrap;

    /**
     * Creates one.
     *
     * @param wrap takes over the lease, also if it throws; on any thread
     */
    public LeaseFlux(Flux<HostLease> leases, Function<? super HostLease, ? extends R> wrap) {
        this.leases = leases;
        this.wrap = wrap;
    }

    @Override
    public void subscribe(CoreSubscriber<? super R> actual) {
        leases.subscribe(new Wrapping<>(actual, wrap));
    }

    /** Passes all on; adds no thread, and no state but the end. */
    private static final class Wrapping<R> implements CoreSubscriber<HostLease>, QueueSubscription<R> {

        private final CoreSubscriber<? super R> actual;
        private final Function<? super HostLease, ? extends R> wrap;
        private Subscription upstream = Operators.emptySubscription();
        private @Nullable QueueSubscription<HostLease> queue; // if it is fused
        private boolean done; // signals only

        Wrapping(CoreSubscriber<? super R> actual, Function<? super HostLease, ? extends R> wrap) {
            this.actual = actual;
            this.wrap = wrap;
        }

        @Override
        public Context currentContext() {
            return actual.currentContext();
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            upstream = subscription;
            actual.onSubscribe(this);
        }

        @Override
        @SuppressWarnings("unchecked")
        public int requestFusion(int requestedMode) {
            int mode = upstream instanceof QueueSubscription<?> fuseable ? fuseable.requestFusion(requestedMode) : NONE;
            if (mode != NONE) {
                queue = (QueueSubscription<HostLease>) upstream;
            }
            return mode;
        }

        @Override
        @SuppressWarnings("NullAway") // null announces an element of the queue
        public void onNext(HostLease lease) {
            if (queue != null) {
                actual.onNext(null);
                return;
            }
            if (done) {
                lease.close();
                return;
            }
            R wrapped;
            try {
                wrapped = wrap.apply(lease);
            } catch (Throwable e) {
                onError(Operators.onOperatorError(upstream, e, currentContext()));
                return;
            }
            actual.onNext(wrapped);
        }

        @Override
        public void onError(Throwable cause) {
            if (done) {
                Operators.onErrorDropped(cause, currentContext());
                return;
            }
            done = true;
            actual.onError(cause);
        }

        @Override
        public void onComplete() {
            if (!done) {
                done = true;
                actual.onComplete();
            }
        }

        @Override
        public void request(long n) {
            upstream.request(n);
        }

        @Override
        public void cancel() {
            upstream.cancel();
        }

        @Override
        public @Nullable R poll() {
            HostLease lease = queue == null ? null : queue.poll();
            return lease == null ? null : wrap.apply(lease);
        }

        @Override
        public int size() {
            return queue == null ? 0 : queue.size();
        }

        @Override
        public boolean isEmpty() {
            return queue == null || queue.isEmpty();
        }

        @Override
        public void clear() {
            if (queue != null) {
                queue.clear();
            }
        }
    }
}
