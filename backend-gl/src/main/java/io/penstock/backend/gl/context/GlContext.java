// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.context;

import io.penstock.DeviceLostException;
import io.penstock.Failure;
import io.penstock.TransientStorageException;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.kit.SharedContext;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.kit.staging.ExecutorThread;
import io.penstock.engine.spi.Shared;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
 * <p><b>Ownership:</b> its opener and each object created in it are users; when the last has {@linkplain #leave left},
 * which waits for nothing, the context is freed on its thread, and a thread of the backend terminates.
 */
public final class GlContext extends SharedContext<GlContext> {

    private static final Logger LOG = LoggerFactory.getLogger(GlContext.class);

    private static final Shared<Object, GlContext> OPEN = new Shared<>(GlContext::end); // each by a key of its own

    private final ExecutorPump pump;
    private final ContextSource source;
    private final boolean ownThread;
    private volatile @Nullable Thread owner;
    private @Nullable GlFacts facts; // written by the owner before this is published
    private @Nullable BufferCalls buffers; // as facts
    private final Set<Long> ownFences = ConcurrentHashMap.newKeySet();
    private volatile boolean over;

    private GlContext(ExecutorPump pump, ContextSource source, boolean ownThread) {
        super(OPEN);
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
            return OPEN.open(context, () -> context.call("opening of a GL context", context::begin));
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
        return OPEN.open(context, context::begin);
    }

    private GlContext begin() {
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
            return this;
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

    /** Returns true if the last user has left: no call is made any more. */
    public boolean isOver() {
        return over;
    }

    private void end() {
        post(() -> {
            over = true; // watched fences see it and terminate
            close();
        });
        if (ownThread) {
            pump.close();
        }
    }

    @Override
    protected void free() {
        source.end();
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
