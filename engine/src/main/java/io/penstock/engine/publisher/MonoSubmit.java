// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.Completion;
import io.penstock.Transfer;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.queue.Port;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.RejectedExecutionException;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** One transfer; each subscription opens it once. */
public final class MonoSubmit extends Mono<Completion> {

    private final Port port;
    private final Transfer transfer;

    public MonoSubmit(Port port, Transfer transfer) {
        this.port = port;
        this.transfer = transfer;
    }

    @Override
    public void subscribe(CoreSubscriber<? super Completion> actual) {
        Inner inner = new Inner(port, transfer, actual);
        actual.onSubscribe(inner);
        if (!inner.cancelled) {
            inner.open();
        }
    }

    private static final class Inner extends OpenTransfer implements Subscription, Runnable {

        // The value needs demand and a completion; the thread that adds the second of the two delivers.
        private static final int REQUESTED = 1;
        private static final int OVER = 2;
        private static final VarHandle FLAGS;

        static {
            try {
                FLAGS = MethodHandles.lookup().findVarHandle(Inner.class, "flags", int.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private final Port port;
        private final CoreSubscriber<? super Completion> actual;

        @SuppressWarnings("unused") // through FLAGS
        private volatile int flags;

        private volatile boolean cancelled;

        Inner(Port port, Transfer transfer, CoreSubscriber<? super Completion> actual) {
            super(port, transfer);
            this.port = port;
            this.actual = actual;
        }

        @Override
        public boolean isChecked() {
            return true;
        }

        @Override
        public void request(long n) {
            if (Operators.validate(n) && (int) FLAGS.getAndBitwiseOr(this, REQUESTED) == OVER) {
                deliver();
            }
        }

        @Override
        protected void ended() {
            boolean failed = error() != null; // an error needs no demand
            int before = (int) FLAGS.getAndBitwiseOr(this, failed ? REQUESTED | OVER : OVER);
            if (failed || before == REQUESTED) {
                deliver();
            }
        }

        private void deliver() {
            if (port.isDirectDelivery()) {
                run();
                return;
            }
            try {
                port.scheduler().schedule(this);
            } catch (RejectedExecutionException e) {
                // The application has shut down its scheduler: a signal on the wrong thread is better than none.
                run();
            }
        }

        @Override
        public void run() {
            Throwable error = error();
            if (cancelled) {
                return;
            }
            if (error != null) {
                actual.onError(error);
            } else {
                actual.onNext(completion());
                actual.onComplete();
            }
        }

        @Override
        public void cancel() {
            cancelled = true;
            super.cancel();
        }
    }
}
