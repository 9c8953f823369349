// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;

/**
 * Opens the backend in contexts that share buffers, textures and sync objects with the application's.
 *
 * <p>What arrives was written by another context. Whoever uses it waits for the fence and then binds the buffer or
 * texture (again):
 *
 * <pre>{@code
 * glWaitSync(fence.nativeHandle(), 0, GL_TIMEOUT_IGNORED);
 * glBindBuffer(GL_SHADER_STORAGE_BUFFER, (int) buffer.nativeHandle());
 * }</pre>
 *
 * <p>The application's own context, driven from its render loop, is {@link GlPump}'s.
 */
public final class GlBackends {

    private GlBackends() {}

    /**
     * Opens it in an EGL context of ours that shares with one of the application's; as
     * {@code penstock.gl.context=current} does for the context of the calling thread.
     *
     * @param eglDisplay the EGLDisplay
     * @param eglContext the EGLContext
     * @throws io.penstock.BackendUnavailableException if EGL does not know them, or the context is too old
     */
    public static Backend sharing(long eglDisplay, long eglContext, Options options) {
        Options resolved = options.resolve(Backends.options());
        EglPlatform loaded = EglPlatform.egl(resolved);
        if (!loaded.isUsable()) {
            throw GlFailure.unavailable(loaded.reason() + "; " + loaded.remedy());
        }
        return open(EglContext.sharing(eglDisplay, eglContext), resolved);
    }

    /**
     * Opens it in a context that the application hands over.
     *
     * @throws io.penstock.BackendUnavailableException if it cannot be made current, or is too old
     */
    public static Backend in(SharedContext context, Options options) {
        Options resolved = options.resolve(Backends.options());
        EglPlatform loaded = EglPlatform.libraries(resolved);
        if (!loaded.isUsable()) {
            throw GlFailure.unavailable(loaded.reason() + "; " + loaded.remedy());
        }
        return open(new HandedOver(context), resolved);
    }

    private static Backend open(ContextSource source, Options options) {
        return GlProvider.open(GlContext.start(source), options, route -> route);
    }

    private record HandedOver(SharedContext context) implements ContextSource {

        @Override
        public void begin() {
            context.makeCurrent();
        }

        @Override
        public void end() {
            context.release();
        }
    }
}
