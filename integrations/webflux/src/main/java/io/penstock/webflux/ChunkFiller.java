// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import io.penstock.Chunk;
import io.penstock.HostLease;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Fills one chunk after the other with the bytes of buffers that arrive. A buffer is requested when there is a chunk to
 * copy it to and the buffer before has been copied.
 *
 * <p><b>Threading:</b> chunks, buffers and the close come from three threads. Each records its event and calls
 * {@link #drain}; one of them at a time handles all recorded events.
 *
 * <p><b>Ownership:</b> owns a buffer from its arrival until it has been copied or this is closed.
 */
final class ChunkFiller implements CoreSubscriber<DataBuffer>, AutoCloseable {

    private final Publisher<? extends DataBuffer> buffers;
    private final Context context;
    private final AtomicInteger news = new AtomicInteger();

    private volatile @Nullable Filling filling;
    private volatile @Nullable Subscription upstream;
    private volatile boolean closed;
    private volatile boolean over;
    private @Nullable Throwable error; // written before over

    private volatile @Nullable DataBuffer arrived;
    private volatile boolean requested; // a buffer that has not arrived: at most one exists

    private boolean subscribed; // by fill, which is called for one chunk at a time

    private final @Nullable Pace pace;
    private final Disposable.Swap looking = Disposables.swap(); // at the pace

    /** A chunk, and how much of it is filled; turns only. */
    private static final class Filling {
        final Chunk chunk;
        final MonoSink<Long> result;
        long filled;

        Filling(Chunk chunk, MonoSink<Long> result) {
            this.chunk = chunk;
            this.result = result;
        }

        /** Copies as many bytes as fit. */
        void copy(DataBuffer source) {
            int bytes = (int) Math.min(source.readableByteCount(), chunk.length() - filled);
            // A lease of its own: a cancel ends the write's, and its memory may be used again during the copy.
            try (HostLease lease = chunk.retain()) {
                source.toByteBuffer(source.readPosition(), lease.view().buffer(filled, bytes), 0, bytes);
            }
            source.readPosition(source.readPosition() + bytes);
            filled += bytes;
        }
    }

    /** Creates a filler that waits for buffers for ever. */
    ChunkFiller(Publisher<? extends DataBuffer> buffers, ContextView context) {
        this(buffers, context, Duration.ZERO);
    }

    /**
     * Creates a filler.
     *
     * @param patience how long it waits for buffers that come too slowly, as {@link Pace} counts; zero for ever
     */
    ChunkFiller(Publisher<? extends DataBuffer> buffers, ContextView context, Duration patience) {
        this.buffers = buffers;
        this.context = Context.of(context);
        this.pace = patience.isZero() ? null : new Pace(patience);
        if (pace != null) {
            long millis = Math.max(1, patience.toMillis() / 4);
            looking.update(
                    Schedulers.parallel().schedulePeriodically(this::look, millis, millis, TimeUnit.MILLISECONDS));
        }
    }

    private void look() {
        if (pace != null && pace.isTooSlow() && !over) {
            looking.dispose();
            onError(new ResponseStatusException(
                    HttpStatus.REQUEST_TIMEOUT, "the body came at fewer than 1000 bytes a second"));
        }
    }

    /** Emits the number of bytes that the chunk has been filled with: fewer than it has, or 0, at the end. */
    Mono<Long> fill(Chunk chunk) {
        return Mono.create(result -> {
            result.onCancel(this::close); // before the lease ends
            filling = new Filling(chunk, result);
            if (!subscribed) {
                subscribed = true;
                buffers.subscribe(this);
            }
            drain();
        });
    }

    @Override
    public Context currentContext() {
        return context;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        if (Operators.validate(upstream, subscription)) {
            upstream = subscription;
            drain();
        }
    }

    @Override
    public void onNext(DataBuffer buffer) {
        if (pace != null) {
            pace.came(buffer.readableByteCount());
        }
        arrived = buffer;
        requested = false;
        drain();
    }

    @Override
    public void onError(Throwable cause) {
        error = cause;
        onComplete();
    }

    @Override
    public void onComplete() {
        over = true;
        drain();
    }

    /** Cancels the buffers, and releases the buffer that has not been copied. */
    @Override
    public void close() {
        closed = true;
        looking.dispose();
        drain();
    }

    private void drain() {
        if (news.getAndIncrement() != 0) {
            return; // the thread that runs a turn runs another one
        }
        int seen = 1;
        do {
            turn();
            seen = news.addAndGet(-seen);
        } while (seen != 0);
    }

    private void turn() {
        Subscription source = upstream;
        if (closed) {
            filling = null;
            release();
            if (source != null) {
                source.cancel();
            }
            return;
        }
        Filling chunk = filling;
        if (chunk == null || source == null) {
            return;
        }
        // Both are read before what arrived: the last buffer is copied before the end, and each before the next is
        // requested.
        boolean last = over;
        boolean expected = requested;
        DataBuffer buffer = arrived;
        if (buffer != null) {
            copy(buffer, chunk);
        }
        if (filling != chunk || arrived != null) { // ended, and the next one may be here already: its turn comes
            return;
        }
        if (last) {
            end(chunk, error);
        } else if (!expected) {
            requested = true;
            if (pace != null) {
                pace.waits();
            }
            source.request(1); // may call onNext before it returns, which adds a turn
        }
    }

    private void copy(DataBuffer buffer, Filling chunk) {
        try {
            chunk.copy(buffer);
        } catch (RuntimeException | Error e) { // one that is thrown would be the last turn
            if (!closed) { // else the lease has ended with the write
                end(chunk, e);
            }
            return;
        }
        if (buffer.readableByteCount() == 0) {
            release();
        }
        if (chunk.filled == chunk.chunk.length()) {
            end(chunk, null);
        }
    }

    private void end(Filling chunk, @Nullable Throwable cause) {
        filling = null;
        if (cause == null) {
            chunk.result.success(chunk.filled);
        } else {
            chunk.result.error(cause);
        }
    }

    private void release() {
        DataBuffer buffer = arrived;
        if (buffer != null) {
            arrived = null;
            DataBufferUtils.release(buffer);
        }
    }
}
