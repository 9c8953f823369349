// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceFence;
import io.penstock.Options;
import io.penstock.backend.gl.context.ContextSource;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.fence.GlFence;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.backend.gl.paths.GlProvider;
import io.penstock.backend.gl.platform.EglPlatform;
import io.penstock.engine.kit.staging.ExecutorLoop;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.spi.Wakeup;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/**
 * Opens the backend in the application's own context, driven by its render loop. GL is called only inside these
 * methods.
 *
 * <pre>{@code
 * try (GlPump pump = GlPump.open(Options.none())) {     // on the thread whose context is current
 *     pump.backend().submit(transfers).subscribe(...);
 *     while (rendering) {
 *         pump.run(Duration.ofMillis(2));               // copies that are ready, signalled fences
 *         draw();
 *     }
 * }
 * }</pre>
 *
 * <p>Copies are enqueued in the context's order: draws issued after a transfer has completed see its bytes, and so do
 * draws behind a fence that {@link Backend#enqueue} has emitted. Copies change no binding that is visible to the
 * application. Errors that the application has left in the context are cleared, and the first of them is logged.
 *
 * <p><b>Threading:</b> all methods except {@link #backend} must be called on the thread that opened the pump. Until the
 * pump is closed, that thread is marked non-blocking: {@code block()} there throws, since it would wait for ever for
 * work that only this thread can do. Use {@link #runUntil} to wait.
 *
 * <p><b>Ownership:</b> the application owns the context and keeps it current on this thread until {@link #close} has
 * returned.
 */
public final class GlPump implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GlPump.class);

    /** How long a close waits for I/O queues to terminate, which takes microseconds. */
    private static final long PATIENCE_NANOS = 500_000_000;

    private static final long POLL_NANOS = 100_000;

    private static final Set<Thread> DRIVING = ConcurrentHashMap.newKeySet();

    static {
        Schedulers.registerNonBlockingThreadPredicate(DRIVING::contains);
    }

    private final Thread thread = Thread.currentThread();
    private final Wakeup wakeup = new Wakeup();
    private final ExecutorPump pump = new ExecutorPump(wakeup::wake);
    private final ExecutorLoop loop = new ExecutorLoop(pump, wakeup);
    private final GlContext context;
    private final Backend backend;
    private boolean hasLogged;
    private boolean closed;

    private GlPump(Options options) {
        if (DRIVING.contains(thread)) {
            throw new IllegalStateException(thread.getName() + " already runs a GlPump");
        }
        EglPlatform.libraries(options).orThrow();
        context = GlContext.of(pump, new Current());
        backend = GlProvider.open(context, options);
        DRIVING.add(thread);
    }

    /**
     * Opens the backend in the context that is current on this thread.
     *
     * @throws io.penstock.BackendUnavailableException if there is none, or it is too old
     */
    public static GlPump open(Options options) {
        return new GlPump(options.resolve(Backends.options()));
    }

    /** Returns the backend; any thread may use it. This thread may subscribe but must not block. */
    public Backend backend() {
        return backend;
    }

    /**
     * Makes the GL calls that are pending; does not wait.
     *
     * @param budget time limit; at least one pending call is made
     * @return true if work remains, such as copies whose completion was not seen yet
     */
    public boolean run(Duration budget) {
        enter();
        return pump.run(budget.toNanos());
    }

    /**
     * Runs until a publisher has terminated, and sleeps while there is nothing to do.
     *
     * @return the last value; null if there was none
     * @throws RuntimeException if the publisher failed: its error
     */
    public <T> @Nullable T runUntil(Publisher<? extends T> publisher) {
        enter();
        CompletableFuture<T> last = Flux.<T>from(publisher)
                .takeLast(1)
                .next()
                .doFinally(signal -> wakeup.wake()) // after the future is done
                .toFuture();
        while (!last.isDone()) {
            loop.turn();
        }
        try {
            return last.join();
        } catch (CompletionException failed) {
            throw Exceptions.propagate(Objects.requireNonNullElse(failed.getCause(), failed));
        }
    }

    /**
     * Returns a fence behind all commands issued to the context so far, for {@link io.penstock.Transfer#after} and
     * {@link io.penstock.Chunk#releaseAfter}; the caller, or the chunk, closes it.
     */
    public DeviceFence fence() {
        enter();
        return GlFence.placed(context);
    }

    private void enter() {
        if (Thread.currentThread() != thread) {
            throw new IllegalStateException("this GlPump belongs to " + thread.getName() + ", not to "
                    + Thread.currentThread().getName());
        }
        if (closed) {
            throw new IllegalStateException("this GlPump is closed");
        }
        int left = GlFailure.takeError();
        if (left != GlError.NO_ERROR && !hasLogged) {
            hasLogged = true;
            LOG.warn(
                    "the application has left the error {} in its GL context; this error and later ones are discarded",
                    GlError.symbol(left));
        }
    }

    /**
     * Runs, and sleeps, until another thread has closed the backend and all its resources are freed.
     *
     * <p>For threads dedicated to the pump; a render loop calls {@link #run}.
     */
    public void runUntilClosed() {
        enter();
        context.atEnd(wakeup::wake);
        while (!context.isOver()) {
            loop.turn();
        }
    }

    /** Closes the backend, as {@link Backend#close} does, and releases the thread; a second call does nothing. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        runUntil(backend.closeLater());
        closed = true;
        runUntilGivenBack();
        pump.close();
        pump.run(Long.MAX_VALUE); // released objects are deleted
        DRIVING.remove(thread);
    }

    /**
     * I/O queues terminate on their own threads, and release their resources then; abandoned transfers never release
     * theirs.
     */
    private void runUntilGivenBack() {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (!context.isOver() && System.nanoTime() < end) {
            pump.run(Long.MAX_VALUE);
            wakeup.await(POLL_NANOS);
        }
    }

    /** The context that is current on the calling thread. */
    private static final class Current implements ContextSource {

        @Override
        public void begin() {
            // already current
        }

        @Override
        public void end() {
            // owned by the application
        }
    }
}
