// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.fence;

import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.spi.FencePoint;
import java.util.ArrayList;
import java.util.List;

/**
 * The position of a transfer in the order of the context, in which all of its copies are enqueued anyway: the fences
 * that they wait for, and a GLsync behind them.
 */
public final class GlPoint implements FencePoint {

    private final GlContext context;
    private final boolean exposed;
    private final List<Long> fences = new ArrayList<>(0); // guarded by this: application syncs to wait for
    private boolean used; // guarded by this: counted as a reference to the context
    private volatile long sync;

    /**
     * Creates a point; makes no native call.
     *
     * @param exposed true if it needs a GLsync
     */
    public GlPoint(GlContext context, boolean exposed) {
        this.context = context;
        this.exposed = exposed;
    }

    /** Makes the copies that join wait for a GLsync first. */
    public synchronized void await(long awaited) {
        // The point behind the copies of one transfer is before the copies of the next.
        if (!context.ownFences().contains(awaited)) {
            fences.add(awaited);
        }
    }

    /**
     * Enqueues a device wait for the fences that the copies come behind; called on the context's thread, before each
     * copy.
     *
     * @return the GL error, or 0
     */
    public synchronized int enter() {
        if (fences.isEmpty()) {
            return GlError.NO_ERROR;
        }
        fences.forEach(fence -> Gl.glWaitSync(fence, 0, Gl.GL_TIMEOUT_IGNORED));
        fences.clear();
        return GlFailure.takeError(); // the application may have deleted one
    }

    @Override
    public void place(Runnable placed) {
        if (!exposed) {
            placed.run();
            return;
        }
        use();
        boolean posted = context.postOrRun(() -> {
            sync = Gl.glFenceSync(Gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
            if (sync == 0) {
                GlFailure.takeError(); // which the next copy would take for its own
            } else {
                context.ownFences().add(sync);
            }
            Gl.glFlush();
            placed.run();
        });
        if (!posted) {
            placed.run();
        }
    }

    private synchronized void use() {
        context.join();
        LiveObjects.add(GlPoint.class);
        used = true;
    }

    @Override
    public long nativeHandle() {
        return sync;
    }

    @Override
    public void free() {
        synchronized (this) {
            if (!used) {
                return;
            }
            used = false;
        }
        LiveObjects.remove(GlPoint.class);
        context.post(() -> {
            context.ownFences().remove(sync);
            Gl.glDeleteSync(sync); // GL ignores 0
        });
        context.leave();
    }
}
