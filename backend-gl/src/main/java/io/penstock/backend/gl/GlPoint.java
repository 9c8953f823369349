// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.spi.FencePoint;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The place of a transfer in the order of the context, which all of its copies stand in anyway: what they wait for there,
 * and a GLsync behind them.
 */
final class GlPoint implements FencePoint {

    static final AtomicLong LIVE = new AtomicLong();

    private final GlContext context;
    private final boolean exposed;
    private final List<Long> fences = new ArrayList<>(0); // guarded by this: the application's, still to be waited for
    private boolean used; // guarded by this: counted as a user of the context
    private volatile long sync;

    /**
     * Makes one; no native call.
     *
     * @param exposed whether there is to be a GLsync
     */
    GlPoint(GlContext context, boolean exposed) {
        this.context = context;
        this.exposed = exposed;
    }

    /** Has the copies that are to join wait for a GLsync first. */
    synchronized void await(long awaited) {
        // What is behind the copies of one transfer of ours is before those of the next.
        if (!context.ownFences().contains(awaited)) {
            fences.add(awaited);
        }
    }

    /**
     * Has the device wait for what the copies are to come behind; on the thread of the context, before each copy.
     *
     * @return why it does not, or 0
     */
    synchronized int enter() {
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
            context.ownFences().add(sync);
            Gl.glFlush();
            placed.run();
        });
        if (!posted) {
            placed.run();
        }
    }

    private synchronized void use() {
        context.join();
        LIVE.incrementAndGet();
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
        LIVE.decrementAndGet();
        context.post(() -> {
            context.ownFences().remove(sync);
            Gl.glDeleteSync(sync); // GL passes over one that is 0
        });
        context.leave();
    }
}
