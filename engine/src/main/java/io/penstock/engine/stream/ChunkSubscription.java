// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.engine.queue.DeliveryLoop;
import io.penstock.engine.queue.Port;
import io.penstock.file.LateErrors;
import io.penstock.handover.Handover;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/** Base of a stream and a write: a file named by the plan, a few buffers, and one terminal signal. */
abstract class ChunkSubscription extends DeliveryLoop implements Subscription, ChunkLease.Lender {

    private static final AtomicIntegerFieldUpdater<ChunkSubscription> STOPPED =
            AtomicIntegerFieldUpdater.newUpdater(ChunkSubscription.class, "stopped");

    private final Port port;
    private final Context subscriber;
    private final FileOpening opening;
    private final ChunkBuffers buffers;

    // The error that ends it from outside its turns: a violated rule, a failed sync, a scheduler that was shut down.
    private final AtomicReference<@Nullable Throwable> broken = new AtomicReference<>();

    // 0 -> 1 by the cancel, or by the turn that emits the terminal signal: the first one wins (rule 101).
    private volatile int stopped;

    ChunkSubscription(Port port, int depth, Context subscriber, Scheduler.@Nullable Worker worker) {
        super(worker);
        this.port = port;
        this.subscriber = LateErrors.closedDebugged(subscriber);
        this.opening = new FileOpening(this, this.subscriber);
        this.buffers = new ChunkBuffers(port, depth);
    }

    /** Opens the file, if the plan names one, and starts; after {@code onSubscribe}. */
    final void start(Optional<Path> path, Set<FileOption> options) {
        if (stopped == 0 && path.isPresent()) {
            // Deferred, because openFile throws at once if options contradict each other; here that must be a signal.
            Mono.defer(() -> port.openFile(path.get(), options)).subscribe(opening);
        }
        signal();
    }

    /**
     * Requests a turn that signals nothing within the caller. Who ends a lease may be in the midst of a queue of Netty,
     * which releases the memory of what it has encrypted: a chunk that is written there meanwhile would get before it.
     */
    final void signalLater() {
        signal(isStopped() ? null : port.batchScheduler());
    }

    final Port port() {
        return port;
    }

    final FileOpening opening() {
        return opening;
    }

    final ChunkBuffers buffers() {
        return buffers;
    }

    /** Returns the subscriber's context, for the publishers of the application's function. */
    final Context subscriber() {
        return subscriber;
    }

    final boolean isStopped() {
        return stopped != 0;
    }

    /** Returns true if the caller is the first to stop it. */
    final boolean stop() {
        return STOPPED.compareAndSet(this, 0, 1);
    }

    /**
     * Returns the error to signal for what the application's function or its publisher threw. Reactor throws a
     * LinkageError, as where the library of a kernel is missing, out of the delivering thread: the subscriber
     * would get no signal.
     */
    final Throwable thrown(Throwable e, ChunkLease lease) {
        return Exceptions.isFatal(e) ? e : Operators.onOperatorError(null, e, lease, subscriber);
    }

    /** Ends it with an error; any thread. */
    final void breakOff(Throwable cause) {
        broken.compareAndSet(null, cause);
        signal();
    }

    /** Returns, once, the error that it must end with; null in most cases. */
    final @Nullable Throwable takeBroken() {
        return broken.get() == null ? null : broken.getAndSet(null);
    }

    /** Cancels the publisher that the application's function returned, if there is one; any thread. */
    abstract void cancelInner();

    @Override
    public void cancel() {
        if (stop()) {
            cancelInner();
            opening.close();
            signalHere();
        }
    }

    @Override
    public final boolean isDetectingLeaks() {
        return port.isDetectingLeaks();
    }

    @Override
    protected final void rejected(RejectedExecutionException cause) {
        broken.compareAndSet(null, Operators.onRejectedExecution(cause, subscriber));
    }

    @Override
    protected final void crashed(Throwable cause) {
        cancel();
        Operators.onErrorDropped(cause, subscriber);
    }

    /** A file that a plan names: opened for one subscription, and closed with it, even if it is opened too late. */
    static final class FileOpening extends Handover<StorageFile> implements CoreSubscriber<StorageFile> {

        private static final AtomicReferenceFieldUpdater<FileOpening, Subscription> UPSTREAM =
                AtomicReferenceFieldUpdater.newUpdater(FileOpening.class, Subscription.class, "upstream");

        private final DeliveryLoop loop;

        @SuppressWarnings("unused") // through UPSTREAM
        private volatile @Nullable Subscription upstream;

        FileOpening(DeliveryLoop loop, Context context) {
            super(context);
            this.loop = loop;
        }

        /** Closes the file, now or when it has been opened; any thread. */
        void close() {
            Operators.terminate(UPSTREAM, this);
            StorageFile opened = end();
            if (opened != null) {
                opened.close();
            }
        }

        @Override
        public void onSubscribe(Subscription s) {
            if (Operators.setOnce(UPSTREAM, this, s)) {
                s.request(Long.MAX_VALUE);
            }
        }

        @Override
        public void onNext(StorageFile opened) {
            if (arrive(opened)) {
                loop.signal();
            }
        }

        @Override
        public void onError(Throwable cause) {
            if (fail(cause)) {
                loop.signal();
            } else {
                Operators.onErrorDropped(cause, currentContext());
            }
        }

        @Override
        public void onComplete() {
            if (isPending()) {
                onError(new IllegalStateException("the backend opened no file"));
            }
        }
    }
}
