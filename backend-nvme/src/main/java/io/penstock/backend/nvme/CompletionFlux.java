// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import io.penstock.engine.spi.Wakeup;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/**
 * The completions of a queue pair, emitted by the pair's thread to one subscriber at a time. The thread takes a
 * completion from the queue only if {@link #wanted} has returned a subscriber for it.
 */
final class CompletionFlux extends Flux<CommandCompletion> {

    private static final Logger LOG = LoggerFactory.getLogger(CompletionFlux.class);

    private final String name;
    private final Wakeup wakeup;
    private final AtomicReference<@Nullable Receiver> current = new AtomicReference<>();
    private volatile @Nullable End end;

    /** How the pair has ended: by an error, or by its close. */
    private record End(@Nullable Throwable cause) {}

    /**
     * Creates a flux without a subscriber.
     *
     * @param name of the queue pair, for messages
     * @param wakeup the wakeup of the pair's thread
     */
    CompletionFlux(String name, Wakeup wakeup) {
        this.name = name;
        this.wakeup = wakeup;
    }

    @Override
    public void subscribe(CoreSubscriber<? super CommandCompletion> actual) {
        Receiver receiver = new Receiver(this, actual);
        if (!current.compareAndSet(null, receiver)) {
            Operators.error(actual, new IllegalStateException(name + " must have one subscriber at a time"));
            return;
        }
        actual.onSubscribe(receiver);
        receiver.subscribed = true; // signals of the pair's thread may follow
        wakeup.wake();
        End ended = end;
        if (ended != null) {
            receiver.end(ended); // unless terminate() has found it: the second of the two ends it
        }
    }

    /**
     * Returns the subscriber if it has requested a completion; the pair's thread, which then calls
     * {@link Receiver#emit}.
     */
    @Nullable
    Receiver wanted() {
        Receiver receiver = current.get();
        // Not after terminate(), which is of the same thread: the end may be signalled by a subscriber's.
        return end == null && receiver != null && receiver.subscribed && receiver.requested > 0 ? receiver : null;
    }

    /**
     * Ends the present subscription and later ones; a second call does nothing.
     *
     * @param cause null to complete them
     */
    void terminate(@Nullable Throwable cause) {
        End ended = end == null ? new End(cause) : end;
        end = ended;
        Receiver receiver = current.get();
        if (receiver != null && receiver.subscribed) {
            receiver.end(ended);
        }
    }

    /** A subscription. */
    static final class Receiver implements Subscription {

        private static final AtomicLongFieldUpdater<Receiver> REQUESTED =
                AtomicLongFieldUpdater.newUpdater(Receiver.class, "requested");

        private final CompletionFlux flux;
        private final CoreSubscriber<? super CommandCompletion> actual;
        private volatile boolean subscribed;
        private volatile long requested;

        Receiver(CompletionFlux flux, CoreSubscriber<? super CommandCompletion> actual) {
            this.flux = flux;
            this.actual = actual;
        }

        void emit(CommandCompletion completion) {
            Operators.produced(REQUESTED, this, 1);
            try {
                actual.onNext(completion);
            } catch (Throwable e) {
                cancel(); // whatever it is: this thread has to delete the queues
                LOG.warn("a subscriber of {} is cancelled: it has thrown from onNext", flux.name, e);
            }
        }

        private void end(End ended) {
            if (flux.current.compareAndSet(this, null)) {
                try {
                    if (ended.cause == null) {
                        actual.onComplete();
                    } else {
                        actual.onError(ended.cause);
                    }
                } catch (Throwable e) {
                    LOG.warn("a subscriber of {} has thrown from its last signal", flux.name, e);
                }
            }
        }

        @Override
        public void request(long n) {
            if (Operators.validate(n)) {
                Operators.addCap(REQUESTED, this, n);
                flux.wakeup.wake();
            }
        }

        @Override
        public void cancel() {
            flux.current.compareAndSet(this, null);
        }
    }
}
