// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.fence;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.backend.gl.context.GlCall;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A GLsync as a fence: imported from the application, or inserted into the context. The context's thread polls it until
 * it is signalled; signals are delivered on that thread.
 */
public final class GlFence implements DeviceFence {

    private final GlContext context;
    private final long sync;
    private final boolean owned;
    private final Sinks.Empty<Void> signal = Sinks.empty();
    private volatile boolean signalled;
    private volatile @Nullable RuntimeException failure; // written before signalled
    private boolean closed; // guarded by this
    private boolean deleted; // guarded by this

    private GlFence(GlContext context, long sync, boolean owned) {
        this.context = context;
        this.sync = sync;
        this.owned = owned;
    }

    /**
     * Imports a GLsync of the application; called on the context's thread.
     *
     * @throws IllegalArgumentException if it is not known to GL
     */
    public static GlFence imported(GlContext context, long sync) {
        if (sync == 0 || Gl.glIsSync(sync) == 0) {
            throw new IllegalArgumentException("the GLsync 0x" + Long.toHexString(sync) + " is not valid in " + context
                    + " or a context that shares with it");
        }
        return watched(new GlFence(context, sync, false));
    }

    /** Inserts a fence behind all commands issued to the context; called on the context's thread. */
    public static GlFence placed(GlContext context) {
        long sync = Gl.glFenceSync(Gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        if (sync == 0) {
            throw GlCall.FENCE.exception("placing of a fence", GlFailure.takeError());
        }
        Gl.glFlush();
        return watched(new GlFence(context, sync, true));
    }

    private static GlFence watched(GlFence fence) {
        if (!fence.poll()) {
            fence.context.watch(fence::poll);
        }
        return fence;
    }

    /** Polls the device, on the context's thread. Returns true if no further poll is needed. */
    private boolean poll() {
        if (signalled) {
            return true;
        }
        if (context.isOver()) {
            failure = GlCall.WAIT.exception("a wait for a GLsync", GlError.CONTEXT_LOST);
            return pass();
        }
        int state = Gl.glClientWaitSync(sync, 0, 0);
        if (state == Gl.GL_TIMEOUT_EXPIRED) {
            return false;
        }
        int reset = context.resetStatus();
        if (reset != GlError.NO_ERROR) {
            failure = GlCall.RESET.exception("a wait for a GLsync", reset);
        } else if (state == Gl.GL_WAIT_FAILED || state == 0) {
            failure = GlCall.WAIT.exception("a wait for a GLsync", GlFailure.takeError());
        }
        return pass();
    }

    private boolean pass() {
        signalled = true;
        signal.tryEmitEmpty();
        delete();
        return true;
    }

    private synchronized void delete() {
        if (closed && signalled && owned && !deleted) {
            deleted = true;
            context.post(() -> Gl.glDeleteSync(sync));
        }
    }

    @Override
    public boolean isSignalled() {
        return signalled || (context.isHere() && poll() && signalled);
    }

    @Override
    public Mono<Void> signalled() {
        return signal.asMono();
    }

    /** {@inheritDoc} An imported fence has no transfer; a lost context fails here. */
    @Override
    public Mono<Completion> outcome() {
        return signalled().then(Mono.defer(() -> {
            RuntimeException failed = failure;
            return failed == null ? Mono.empty() : Mono.error(failed);
        }));
    }

    @Override
    public long nativeHandle() {
        return sync;
    }

    @Override
    public synchronized void close() {
        closed = true;
        delete(); // otherwise once it is signalled: it may still be waited for
    }

    @Override
    public String toString() {
        return "GLsync 0x" + Long.toHexString(sync);
    }
}
