// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.context;

import io.penstock.DeviceLostException;
import io.penstock.Failure;
import io.penstock.TransientStorageException;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.spi.staging.ExecutorPump;
import io.penstock.engine.spi.staging.ExecutorThread;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A context, and the one thread that may call GL in it: a thread of the backend, or the application's while it runs the
 * pump.
 *
 * <p><b>Threading:</b> thread-safe; submitted calls run on that thread.
 *
 * <p><b>Ownership:</b> reference-counted: its opener and each object created in it hold a reference; when the last has
 * {@linkplain #leave left}, the context is released and a thread of the backend terminates.
 */
public final class GlContext {

    private static final Logger LOG = LoggerFactory.getLogger(GlContext.class);

    private final ExecutorPump pump;
    private final ContextSource source;
    private final boolean ownThread;
    private volatile @Nullable Thread owner;
    private @Nullable GlFacts facts; // written by the owner before this is published
    private @Nullable BufferCalls buffers; // as facts
    private int users = 1; // guarded by this
    private final Set<Long> ownFences = ConcurrentHashMap.newKeySet();
    private final Queue<Runnable> atEnd = new ConcurrentLinkedQueue<>();
    private volatile boolean over;

    private GlContext(ExecutorPump pump, ContextSource source, boolean ownThread) {
        this.pump = pump;
        this.source = source;
        this.ownThread = ownThread;
    }

    /**
     * Starts a thread that owns a context.
     *
     * @throws io.penstock.BackendUnavailableException if there is none, or it is too old
     */
    public static GlContext start(ContextSource source) {
        ExecutorPump pump = ExecutorThread.start("penstock-gl").pump();
        GlContext context = new GlContext(pump, source, true);
        try {
            context.call("opening of a GL context", () -> {
                context.begin();
                return context;
            });
            return context;
        } catch (RuntimeException | Error e) {
            pump.close();
            throw e;
        }
    }

    /**
     * Uses the context that is current on the calling thread, which drives it from now on.
     *
     * @throws io.penstock.BackendUnavailableException if there is none, or it is too old
     */
    public static GlContext of(ExecutorPump pump, ContextSource source) {
        GlContext context = new GlContext(pump, source, false);
        context.begin();
        return context;
    }

    private void begin() {
        owner = Thread.currentThread();
        source.begin();
        try {
            GlFacts found = GlFacts.ofCurrent();
            String refusal = found.refusal();
            if (!refusal.isEmpty()) {
                throw GlFailure.unavailable(refusal);
            }
            facts = found;
            buffers = BufferCalls.of(found);
        } catch (RuntimeException | Error e) {
            source.end();
            throw e;
        }
    }

    public GlFacts facts() {
        return present(facts);
    }

    public BufferCalls buffers() {
        return present(buffers);
    }

    /** Returns the GLsyncs behind transfers of this backend. */
    public Set<Long> ownFences() {
        return ownFences;
    }

    public ExecutorPump pump() {
        return pump;
    }

    public boolean isOwnThread() {
        return ownThread;
    }

    /** Returns true if the calling thread is the one that may call GL. */
    public boolean isHere() {
        return Thread.currentThread() == owner;
    }

    /** Returns true if the last reference was released: no call is made any more. */
    public boolean isOver() {
        return over;
    }

    /** Takes a reference; requires that another is held. */
    public synchronized void join() {
        if (users == 0) {
            throw new IllegalStateException("the GL context is closed");
        }
        users++;
    }

    /** Releases a reference; the last one releases the context. Any thread; does not wait. */
    public void leave() {
        synchronized (this) {
            if (--users > 0) {
                return;
            }
        }
        post(() -> {
            over = true; // watched fences see it and terminate
            atEnd.forEach(GlContext::runAtEnd);
            source.end();
        });
        if (ownThread) {
            pump.close();
        }
    }

    private static void runAtEnd(Runnable calls) {
        try {
            calls.run();
        } catch (RuntimeException | Error e) { // the other calls are made, and the context is released, nevertheless
            LOG.warn("a part of a GL context cannot be freed", e);
        }
    }

    /** Registers calls to run on the thread when the context is released, while it is still current. */
    public void atEnd(Runnable calls) {
        atEnd.add(calls);
    }

    /**
     * Submits calls to the thread.
     *
     * @return false if the thread has terminated, and with it all objects of the context
     */
    public boolean post(Runnable calls) {
        try {
            pump.execute(calls);
            return true;
        } catch (RejectedExecutionException ended) {
            return false;
        }
    }

    /** Like {@link #post}, but runs the calls at once on that thread. */
    public boolean postOrRun(Runnable calls) {
        if (!isHere()) {
            return post(calls);
        }
        calls.run();
        return true;
    }

    /**
     * Waits, up to a bound, until the thread has run all calls posted before. Returns at once if the thread is the
     * application's: it may be waiting for the caller.
     */
    public void drain() {
        if (ownThread) {
            try {
                call("wait for posted tasks", () -> true);
            } catch (TransientStorageException | DeviceLostException late) {
                LOG.debug("a GL context is closed with pending work: {}", late.getMessage());
            }
        }
    }

    /**
     * Registers a function that the thread polls until it returns true; a thread of the backend polls only while there
     * is a reference.
     */
    public void watch(BooleanSupplier poll) {
        pump.watch(poll);
    }

    /**
     * Runs calls on the thread and waits for their result.
     *
     * @throws TransientStorageException if the thread does not take them in time: a stalled render loop
     */
    public <T> T call(String request, Supplier<T> calls) {
        if (isHere()) {
            return calls.get();
        }
        try {
            return pump.call(request, ownThread ? "" : "a GlPump must be run", calls);
        } catch (RejectedExecutionException ended) {
            throw new DeviceLostException(request + " failed: its GL context has ended", Failure.NOT_STARTED, ended);
        }
    }

    /**
     * Returns why the context is lost, as {@code glGetGraphicsResetStatus} reports; 0 if it is not, or cannot report
     * it.
     */
    public int resetStatus() {
        return facts().reportsResets() ? Gl.glGetGraphicsResetStatus() : GlError.NO_ERROR;
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("the GL context has not been started");
        }
        return value;
    }

    @Override
    public String toString() {
        return facts == null ? "a GL context" : facts.renderer() + ", OpenGL " + facts.version();
    }
}
