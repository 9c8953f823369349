// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceFence;
import io.penstock.Options;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.spi.Route;
import io.penstock.engine.spi.staging.Doorbell;
import io.penstock.engine.spi.staging.ExecutorLoop;
import io.penstock.engine.spi.staging.ExecutorPump;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Schedulers;

/**
 * The backend in the application's own context, driven by its render loop: nothing of GL is called but inside these
 * methods.
 *
 * <pre>{@code
 * try (GlPump pump = GlPump.open(Options.none())) {     // on the thread whose context is current
 *     pump.backend().submit(transfers).subscribe(...);
 *     while (rendering) {
 *         pump.run(Duration.ofMillis(2));               // copies that are ready, fences that were passed
 *         draw();
 *     }
 * }
 * }</pre>
 *
 * <p>Copies stand in the context's order: what is drawn after a transfer has completed sees its bytes, and so does what is
 * drawn behind a fence of {@link Backend#enqueue} that has been given out. They change no binding that the application
 * could see. Errors that it has left in the context are taken out, and the first of them is logged.
 *
 * <p><b>Threading:</b> everything but {@link #backend} on the thread that opened it. Until it is closed that thread counts
 * as one that must not block: {@code block()} there throws, where it would wait for ever for what only this thread can
 * do; {@link #runUntil} waits.
 *
 * <p><b>Ownership:</b> the context stays the application's, current on this thread, until {@link #close} has returned.
 */
public final class GlPump implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GlPump.class);

    /** How long a close waits for lanes to end, which is a matter of microseconds. */
    private static final long PATIENCE_NANOS = 500_000_000;

    private static final long LOOK_NANOS = 100_000;

    private static final Set<Thread> DRIVING = ConcurrentHashMap.newKeySet();

    static {
        Schedulers.registerNonBlockingThreadPredicate(DRIVING::contains);
    }

    private final Thread thread = Thread.currentThread();
    private final Doorbell bell = new Doorbell();
    private final ExecutorPump pump = new ExecutorPump(bell::ring);
    private final ExecutorLoop loop = new ExecutorLoop(pump, bell);
    private final GlContext context;
    private final Backend backend;
    private boolean hasLogged;
    private boolean closed;

    private GlPump(Options options, UnaryOperator<Route> around) {
        if (DRIVING.contains(thread)) {
            throw new IllegalStateException(thread.getName() + " drives a GlPump already");
        }
        EglPlatform loaded = EglPlatform.libraries(options);
        if (!loaded.isUsable()) {
            throw GlFailure.unavailable(loaded.reason() + "; " + loaded.remedy());
        }
        context = GlContext.of(pump, new Current());
        backend = GlProvider.open(context, options, around);
        DRIVING.add(thread);
    }

    /**
     * Opens the backend in the context that is current on this thread.
     *
     * @throws io.penstock.BackendUnavailableException if there is none, or it is too old
     */
    public static GlPump open(Options options) {
        return open(options, route -> route);
    }

    /** As above, with something between the engine and its routes. */
    static GlPump open(Options options, UnaryOperator<Route> around) {
        return new GlPump(options.resolve(Backends.options()), around);
    }

    /** Returns the backend; any thread may use it, and this one may subscribe, but not block. */
    public Backend backend() {
        return backend;
    }

    /**
     * Makes the calls to GL that there are to make at the moment; waits for nothing.
     *
     * @param budget when to stop; at least one call is made if there is one
     * @return whether there is more to do, such as copies whose end was not seen yet
     */
    public boolean run(Duration budget) {
        enter();
        return pump.run(budget.toNanos());
    }

    /**
     * Runs until a publisher has ended, and sleeps where there is nothing to do.
     *
     * @return the last value; null if there was none
     * @throws RuntimeException what the publisher failed with
     */
    public <T> @Nullable T runUntil(Publisher<? extends T> publisher) {
        enter();
        Ending<T> ending = new Ending<>(bell);
        publisher.subscribe(ending);
        while (!ending.isOver()) {
            loop.turn();
        }
        return ending.result();
    }

    /**
     * Returns a fence behind all that the context has been told so far, for {@link io.penstock.Transfer#after} and
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
                    "the application has left {} in its GL context; this and later ones are lost",
                    GlError.symbol(left));
        }
    }

    /**
     * Runs, and sleeps, until the backend has been closed by somebody else and everything of it is gone.
     *
     * <p>For threads that do nothing else; a render loop calls {@link #run}.
     */
    public void runUntilClosed() {
        enter();
        context.atEnd(bell::ring);
        while (!context.isOver()) {
            loop.turn();
        }
    }

    /** Closes the backend, as {@link Backend#close} does, and gives the thread back; a second call does nothing. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        runUntil(backend.closeLater());
        closed = true;
        runUntilGivenBack();
        pump.close();
        pump.run(Long.MAX_VALUE); // what was given back is deleted
        DRIVING.remove(thread);
    }

    /** Lanes end on threads of their own, and give back then what they have; what was abandoned never comes back. */
    private void runUntilGivenBack() {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (!context.isOver() && System.nanoTime() < end) {
            pump.run(Long.MAX_VALUE);
            bell.await(LOOK_NANOS);
        }
    }

    /** The context that is there. */
    private static final class Current implements ContextSource {

        @Override
        public void begin() {
            // it is current
        }

        @Override
        public void end() {
            // it stays the application's
        }
    }
}
