// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A GLsync as a fence: one of the application's, or one that was put into its context for it. The thread of the context
 * looks at it until it is passed; signals come on that thread.
 */
final class GlFence implements DeviceFence {

    private final GlContext context;
    private final long sync;
    private final boolean owned;
    private final Sinks.Empty<Void> passed = Sinks.empty();
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
     * Takes one of the application's; on the thread of the context.
     *
     * @throws IllegalArgumentException if GL does not know it
     */
    static GlFence brought(GlContext context, long sync) {
        if (sync == 0 || Gl.glIsSync(sync) == 0) {
            throw new IllegalArgumentException("the GLsync 0x" + Long.toHexString(sync) + " is none that " + context
                    + " knows, nor of a context that shares with it");
        }
        return watched(new GlFence(context, sync, false));
    }

    /** Puts one behind all that the context has been told; on the thread of the context. */
    static GlFence placed(GlContext context) {
        long sync = Gl.glFenceSync(Gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        if (sync == 0) {
            throw GlFailure.exception("placing of a fence", GlCall.FENCE.vendorName(), GlFailure.takeError());
        }
        Gl.glFlush();
        return watched(new GlFence(context, sync, true));
    }

    private static GlFence watched(GlFence fence) {
        if (!fence.look()) {
            fence.context.watch(fence::look);
        }
        return fence;
    }

    /** Asks the device; on the thread of the context. Answers whether there is nothing more to be asked. */
    private boolean look() {
        if (signalled) {
            return true;
        }
        if (context.isOver()) {
            failure = GlFailure.exception("a wait for a GLsync", GlCall.WAIT.vendorName(), GlError.CONTEXT_LOST);
            return pass();
        }
        int state = Gl.glClientWaitSync(sync, 0, 0);
        if (state == Gl.GL_TIMEOUT_EXPIRED) {
            return false;
        }
        int reset = context.resetStatus();
        if (reset != GlError.NO_ERROR) {
            failure = GlFailure.exception("a wait for a GLsync", GlCall.RESET.vendorName(), reset);
        } else if (state == Gl.GL_WAIT_FAILED || state == 0) {
            failure = GlFailure.exception("a wait for a GLsync", GlCall.WAIT.vendorName(), GlFailure.takeError());
        }
        return pass();
    }

    private boolean pass() {
        signalled = true;
        passed.tryEmitEmpty();
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
        return signalled || (context.isHere() && look() && signalled);
    }

    @Override
    public Mono<Void> signalled() {
        return passed.asMono();
    }

    /** {@inheritDoc} What the application brought has no transfer; a context that is lost fails here. */
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
        delete(); // else when it is passed: somebody may still wait for it
    }

    @Override
    public String toString() {
        return "GLsync 0x" + Long.toHexString(sync);
    }
}
