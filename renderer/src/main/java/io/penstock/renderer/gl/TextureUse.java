// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gl;

import io.penstock.DeviceFence;
import io.penstock.Transfer;
import io.penstock.renderer.gl.ffi.GlCalls;
import org.jspecify.annotations.Nullable;

/**
 * What the application has OpenGL do with a texture: behind it stands a GLsync, for which the next transfer into the texture
 * waits.
 *
 * <p><b>Threading:</b> {@link #begun} and {@link #forget} on the application's thread; a transfer is put behind a use when
 * that was told.
 */
final class TextureUse {

    private final GlApplication application;
    private long sync; // 0 where there is none
    private volatile @Nullable DeviceFence fence;

    TextureUse(GlApplication application) {
        this.application = application;
    }

    /** Notes down that OpenGL was told of it. */
    void begun() {
        sync = GlCalls.glFenceSync(GlCalls.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        GlCalls.glFlush(); // else another context may wait for ever
        GlApplication.check("glFenceSync");
        fence = application.backend().fence(sync);
    }

    /** Returns a transfer that waits for it. */
    Transfer before(Transfer transfer) {
        DeviceFence until = fence;
        return until == null ? transfer : transfer.after(until);
    }

    /** Lets go of the GLsync, which lives as long as a transfer may wait for it: when that has ended. */
    void forget() {
        DeviceFence passed = fence;
        if (passed != null) {
            passed.close();
            fence = null;
        }
        GlCalls.glDeleteSync(sync); // OpenGL passes over one that is 0
        sync = 0;
    }
}
