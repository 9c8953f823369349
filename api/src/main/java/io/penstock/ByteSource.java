// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.Exceptions;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * ByteBuffers of a publisher, requested one at a time and packed into chunks.
 *
 * <p><b>Threading:</b> {@link #fill} and {@link #end} are called one after the other, each after the Mono of the last
 * has ended. The publisher signals on any thread: it and the caller exchange one value by {@link #exchange}.
 */
final class ByteSource extends BaseSubscriber<ByteBuffer> {

    private static final Object COMPLETED = new Object();
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Flux<ByteBuffer> bytes;
    private final Context context;

    // null, or the MonoSink that waits for the next ByteBuffer, or COMPLETED, or the Throwable that the source failed
    // with; the last two are final. Publishes what the caller's thread and the publisher's write below.
    private final AtomicReference<@Nullable Object> exchange = new AtomicReference<>();

    private ByteBuffer rest = NOTHING; // of the last ByteBuffer, not copied yet
    private boolean subscribed;
    private boolean completed;

    ByteSource(Flux<ByteBuffer> bytes, ContextView context) {
        this.bytes = bytes;
        this.context = Context.of(context);
    }

    @Override
    public Context currentContext() {
        return context;
    }

    /** Fills a chunk; emits its bytes, fewer than the chunk has or none if the source completes. */
    Mono<Long> fill(Chunk chunk) {
        Filling filling = new Filling(chunk);
        return Mono.defer(filling::step)
                .repeat(filling::hasRoom) // in a loop, however small the ByteBuffers are
                .then(Mono.fromSupplier(filling::filled));
    }

    /**
     * Completes if the source does.
     *
     * @param written the bytes written, for the error if there are more
     */
    Mono<Void> end(long written) {
        return Mono.defer(this::next)
                .repeat(() -> !completed && !rest.hasRemaining())
                .then(Mono.defer(() -> completed
                        ? Mono.empty()
                        : Mono.error(new IndexOutOfBoundsException(
                                "source must end with the region that is written, has more than its " + written
                                        + " bytes"))));
    }

    /**
     * Requests the next ByteBuffer, unless the last one has bytes left; afterwards there are bytes, or the source is
     * completed.
     */
    private Mono<ByteBuffer> next() {
        if (rest.hasRemaining() || completed) {
            return Mono.just(rest);
        }
        return Mono.<ByteBuffer>create(this::request)
                .map(next -> rest = next.duplicate())
                .switchIfEmpty(Mono.fromSupplier(() -> {
                    completed = true;
                    return rest;
                }));
    }

    private void request(MonoSink<ByteBuffer> sink) {
        if (!exchange.compareAndSet(null, sink)) {
            signal(sink, Objects.requireNonNull(exchange.get()));
        } else if (subscribed) {
            request(1);
        } else {
            subscribed = true;
            bytes.subscribe(this);
        }
    }

    private static void signal(MonoSink<ByteBuffer> sink, Object end) {
        if (end instanceof Throwable failure) {
            sink.error(failure);
        } else {
            sink.success();
        }
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
        subscription.request(1); // the demand that subscribed
    }

    @Override
    @SuppressWarnings("unchecked") // request() put it there
    protected void hookOnNext(ByteBuffer next) {
        Object waiting = exchange.get();
        if (waiting instanceof MonoSink) {
            exchange.set(null); // a sink is replaced by the publisher's signals only
            ((MonoSink<ByteBuffer>) waiting).success(next);
        } else if (waiting == null && !isDisposed()) {
            cancel(); // dropped silently, its bytes would be missing from the file
            over(Exceptions.failWithOverflow("the source sent more than was requested"));
        } else {
            Operators.onNextDropped(next, context);
        }
    }

    @Override
    protected void hookOnComplete() {
        over(COMPLETED);
    }

    @Override
    protected void hookOnError(Throwable failure) {
        over(failure);
    }

    @SuppressWarnings("unchecked") // request() put it there
    private void over(Object end) {
        if (exchange.getAndSet(end) instanceof MonoSink<?> waiting) {
            signal((MonoSink<ByteBuffer>) waiting, end);
        }
    }

    /** A chunk while it is filled. */
    private final class Filling {
        private final Chunk chunk;
        private long filled;

        Filling(Chunk chunk) {
            this.chunk = chunk;
        }

        boolean hasRoom() {
            return filled < chunk.length() && !completed;
        }

        long filled() {
            return filled;
        }

        Mono<Long> step() {
            return next().flatMap(this::copy);
        }

        private Mono<Long> copy(ByteBuffer from) {
            int length = (int) Math.min(from.remaining(), chunk.length() - filled);
            if (length == 0) {
                return Mono.empty();
            }
            ByteBuffer part = from.slice(from.position(), length);
            from.position(from.position() + length);
            long at = filled;
            filled += length;
            BufferRegion region = chunk.region();
            if (region.buffer().hostView().isPresent()) {
                // A lease of its own: a cancel on another thread ends the write's, and the memory may be used again.
                try (HostLease lease = chunk.retain()) {
                    lease.view().write(at, part);
                }
                return Mono.empty();
            }
            return region.buffer().upload(region.offset() + at, part);
        }
    }
}
