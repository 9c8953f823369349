// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.Completion;
import io.penstock.Transfer;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.queue.Port;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
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

        private final CoreSubscriber<? super Completion> actual;

        @SuppressWarnings("unused") // through FLAGS
        private volatile int flags;

        private volatile boolean cancelled;

        Inner(Port port, Transfer transfer, CoreSubscriber<? super Completion> actual) {
            super(port, transfer);
            this.actual = actual;
        }

        @Override
        public boolean isChecked() {
            return true;
        }

        /** Its signals come from the scheduler then as ever: direct ones must come from an I/O queue. */
        @Override
        protected boolean mayEndHere() {
            return !port().isDirectDelivery();
        }

        @Override
        public void request(long n) {
            if (Operators.validate(n) && (int) FLAGS.getAndBitwiseOr(this, REQUESTED) == OVER) {
                port().deliver(this);
            }
        }

        @Override
        protected void ended() {
            boolean failed = error() != null; // an error needs no demand
            int before = (int) FLAGS.getAndBitwiseOr(this, failed ? REQUESTED | OVER : OVER);
            if (failed || before == REQUESTED) {
                port().deliver(this);
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
