// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.engine.queue.Handover;
import io.penstock.engine.queue.Port;
import io.penstock.engine.resource.Offload;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/**
 * Opens a closeable resource by a call that may block, on a thread that may block.
 *
 * <p><b>Cancellation:</b> a call that has not begun is not made; a resource that is returned after the cancel is
 * closed.
 */
public final class MonoOpen<T extends AutoCloseable> extends Mono<T> {

    private final Port port;
    private final Callable<? extends T> call;
    private final boolean isRemote;

    public MonoOpen(Port port, Callable<? extends T> call) {
        this(port, call, false);
    }

    private MonoOpen(Port port, Callable<? extends T> call, boolean isRemote) {
        this.port = port;
        this.call = call;
        this.isRemote = isRemote;
    }

    /** Opens by a call that may wait for another host, and that an interrupt ends: a cancel interrupts it. */
    public static <T extends AutoCloseable> MonoOpen<T> remote(Port port, Callable<? extends T> call) {
        return new MonoOpen<>(port, call, true);
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        Opening<T> opening = new Opening<>(port, call, isRemote, actual);
        actual.onSubscribe(opening);
        if (opening.isCancelled()) {
            return;
        }
        try {
            opening.begun(Offload.scheduler(isRemote).schedule(opening::open));
        } catch (RejectedExecutionException e) {
            opening.fail(Operators.onRejectedExecution(e, actual.currentContext()));
        }
    }

    private static final class Opening<T extends AutoCloseable> extends Handover<T> {

        private final Callable<? extends T> call;
        private final boolean isRemote;
        private volatile @Nullable Disposable task; // if it is to be interrupted; begun() and stop() meet there

        Opening(Port port, Callable<? extends T> call, boolean isRemote, CoreSubscriber<? super T> actual) {
            super(port, actual);
            this.call = call;
            this.isRemote = isRemote;
        }

        private void begun(Disposable scheduled) {
            if (isRemote) {
                task = scheduled;
                if (isCancelled()) {
                    scheduled.dispose();
                }
            }
        }

        private void open() {
            if (isCancelled()) {
                return;
            }
            T opened;
            try {
                opened = call.call();
            } catch (Throwable e) { // also what Reactor counts as fatal: a vendor's library that lacks a function
                if (!isRemote || !isCancelled()) { // else it may be the interrupt's
                    fail(e);
                }
                return;
            }
            succeed(opened);
        }

        /** Interrupts no call of this host: an interruption closes a file channel for all its users. */
        @Override
        protected void stop() {
            Disposable scheduled = task;
            if (scheduled != null) {
                scheduled.dispose();
            }
        }
    }
}
