// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.StorageFile;
import io.penstock.engine.queue.DeliveryLoop;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** A file that a plan names: opened for one subscription, and closed with it, even if it is opened too late. */
final class FileOpening implements CoreSubscriber<StorageFile> {

    private static final AtomicReferenceFieldUpdater<FileOpening, Subscription> UPSTREAM =
            AtomicReferenceFieldUpdater.newUpdater(FileOpening.class, Subscription.class, "upstream");

    private final DeliveryLoop loop;
    private final Context context;

    @SuppressWarnings("unused") // through UPSTREAM
    private volatile @Nullable Subscription upstream;

    // onNext() writes the file and reads closed, close() writes closed and reads the file: one of them closes it, and
    // where both do, the second does nothing.
    private volatile @Nullable StorageFile file;
    private volatile boolean closed;

    private volatile @Nullable Throwable failure;

    FileOpening(DeliveryLoop loop, Context context) {
        this.loop = loop;
        this.context = context;
    }

    /** Returns the file, or null if it is not open yet. */
    @Nullable
    StorageFile file() {
        return file;
    }

    /** Returns why it could not be opened, or null. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /** Closes the file, now or when it has been opened; any thread. */
    void close() {
        if (closed) {
            return;
        }
        closed = true;
        Operators.terminate(UPSTREAM, this);
        StorageFile opened = file;
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
        file = opened;
        if (closed) {
            opened.close();
        } else {
            loop.signal();
        }
    }

    @Override
    public void onError(Throwable cause) {
        if (closed || file != null) {
            Operators.onErrorDropped(cause, context);
            return;
        }
        failure = cause;
        loop.signal();
    }

    @Override
    public void onComplete() {
        if (file == null && !closed) {
            onError(new IllegalStateException("the backend opened no file"));
        }
    }

    @Override
    public Context currentContext() {
        return context;
    }
}
