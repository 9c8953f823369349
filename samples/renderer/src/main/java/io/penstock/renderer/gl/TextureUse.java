// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gl;

import io.penstock.DeviceFence;
import io.penstock.Transfer;
import io.penstock.renderer.gl.ffi.GlCalls;
import org.jspecify.annotations.Nullable;

/**
 * The use of a texture by the application's OpenGL commands: a GLsync follows them, and the next transfer into the
 * texture waits for it.
 *
 * <p><b>Threading:</b> {@link #begun} and {@link #forget} on the application's thread; a transfer is ordered behind a
 * use once that is recorded.
 */
final class TextureUse {

    private final GlApplication application;
    private long sync; // 0 where there is none
    private volatile @Nullable DeviceFence fence;

    TextureUse(GlApplication application) {
        this.application = application;
    }

    /** Records that the use was issued to OpenGL. */
    void begun() {
        sync = GlCalls.glFenceSync(GlCalls.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        GlCalls.glFlush(); // otherwise another context may wait for ever
        GlApplication.check("glFenceSync");
        fence = application.backend().fence(sync);
    }

    /** Returns a transfer that waits for it. */
    Transfer before(Transfer transfer) {
        DeviceFence until = fence;
        return until == null ? transfer : transfer.after(until);
    }

    /** Deletes the GLsync; call it once the transfer that may wait for it has completed. */
    void forget() {
        DeviceFence passed = fence;
        if (passed != null) {
            passed.close();
            fence = null;
        }
        GlCalls.glDeleteSync(sync); // OpenGL ignores 0
        sync = 0;
    }
}
