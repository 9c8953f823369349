// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** A subscriber that checks the rules: one terminal signal, none once cancelled, no more than it requested. */
final class Watch<T> implements CoreSubscriber<T> {
    final String what;
    private final World world;
    private final Consumer<? super T> values;
    private final Consumer<@Nullable Throwable> end;
    boolean mayBeCancelled = true; // by the application at large
    private @Nullable Subscription subscription;
    private long demand;
    private boolean cancelled;
    private boolean over;

    Watch(World world, String what, Consumer<? super T> values, Consumer<@Nullable Throwable> end) {
        this.world = world;
        this.what = what;
        this.values = values;
        this.end = end;
        world.say("application:", what);
    }

    boolean isOpen() {
        return !over && !cancelled;
    }

    boolean isCancelled() {
        return cancelled;
    }

    void cancel() {
        Subscription s = subscription;
        if (s != null && isOpen()) {
            world.say("application: cancels", what);
            cancelled = true;
            s.cancel();
        }
    }

    void request(long n) {
        Subscription s = subscription;
        if (s != null && isOpen()) {
            demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
            s.request(n);
        }
    }

    @Override
    public void onSubscribe(Subscription s) {
        subscription = s;
        if (world.chance.oneIn(4)) {
            world.later(world.chance.below(1000), () -> request(world.chance.between(1, 3)));
            world.later(world.chance.below(5000), () -> request(Long.MAX_VALUE));
        } else {
            request(Long.MAX_VALUE);
        }
    }

    @Override
    public void onNext(T value) {
        check("a value");
        if (demand <= 0) {
            throw new Violation("104: a value without demand from " + what);
        }
        demand -= demand == Long.MAX_VALUE ? 0 : 1;
        values.accept(value);
    }

    @Override
    public void onError(Throwable cause) {
        check("an error");
        over = true;
        world.say("application:", what, "failed:", cause);
        end.accept(cause);
    }

    @Override
    public void onComplete() {
        check("a completion");
        over = true;
        world.say("application:", what, "completed");
        end.accept(null);
    }

    private void check(String signal) {
        if (over || cancelled) {
            throw new Violation("101: " + signal + " from " + what + " after " + (over ? "the end" : "its cancel"));
        }
    }
}
