// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.fence;

import io.penstock.backend.gl.context.GlCall;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.kit.fence.EventFence;

/**
 * A GLsync as a fence: imported from the application, or inserted into the context. Only the context's thread queries
 * it, so that thread polls it from the beginning, whether anything waits for it or not; signals are delivered there.
 */
public final class GlFence extends EventFence {

    private final GlContext context;
    private GlCall failed = GlCall.WAIT; // the call that returned the error; written before the state is known

    private GlFence(GlContext context, long sync, boolean owned) {
        super(sync, owned);
        this.context = context;
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
        fence.signalled().subscribe();
        return fence;
    }

    @Override
    protected int query() {
        if (context.isOver()) {
            return GlError.CONTEXT_LOST;
        }
        int state = context.isHere() ? Gl.glClientWaitSync(nativeHandle(), 0, 0) : Gl.GL_TIMEOUT_EXPIRED;
        if (state == Gl.GL_TIMEOUT_EXPIRED) {
            return PENDING;
        }
        int reset = context.resetStatus();
        if (reset != GlError.NO_ERROR) {
            failed = GlCall.RESET;
            return reset;
        }
        if (state == Gl.GL_WAIT_FAILED || state == 0) {
            int error = GlFailure.takeError();
            return error == GlError.NO_ERROR ? Gl.GL_WAIT_FAILED : error;
        }
        return GlError.NO_ERROR;
    }

    @Override
    protected void watch() {
        context.watch(this::poll);
    }

    @Override
    protected void free() {
        context.post(() -> Gl.glDeleteSync(nativeHandle()));
    }

    @Override
    protected RuntimeException failure(int code) {
        return failed.exception("a wait for a GLsync", code);
    }

    @Override
    public String toString() {
        return "GLsync 0x" + Long.toHexString(nativeHandle());
    }
}
