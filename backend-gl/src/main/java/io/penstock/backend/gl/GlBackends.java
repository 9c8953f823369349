// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.gl.context.ContextSource;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.paths.GlProvider;
import io.penstock.backend.gl.platform.EglContext;
import io.penstock.backend.gl.platform.EglPlatform;

/**
 * Opens the backend in contexts that share buffers, textures and sync objects with the application's context.
 *
 * <p>The bytes are written by another context. To use them, wait for the fence and then bind the buffer or texture
 * (again):
 *
 * <pre>{@code
 * glWaitSync(fence.nativeHandle(), 0, GL_TIMEOUT_IGNORED);
 * glBindBuffer(GL_SHADER_STORAGE_BUFFER, (int) buffer.nativeHandle());
 * }</pre>
 *
 * <p>To use the application's own context, driven from its render loop, see {@link GlPump}.
 */
public final class GlBackends {

    private GlBackends() {}

    /**
     * Opens the backend in an EGL context that it creates and that shares with the given context; {@code
     * penstock.gl.context=current} does the same for the context of the calling thread.
     *
     * @param eglDisplay the EGLDisplay
     * @param eglContext the EGLContext
     * @throws io.penstock.BackendUnavailableException if EGL does not know the display or the context, or the context
     *     is too old
     */
    public static Backend sharing(long eglDisplay, long eglContext, Options options) {
        Options resolved = options.resolve(Backends.options());
        EglPlatform.egl(resolved).orThrow();
        return open(EglContext.sharing(eglDisplay, eglContext), resolved);
    }

    /**
     * Opens the backend in a context that the application hands over.
     *
     * @throws io.penstock.BackendUnavailableException if it cannot be made current, or is too old
     */
    public static Backend in(SharedContext context, Options options) {
        Options resolved = options.resolve(Backends.options());
        EglPlatform.libraries(resolved).orThrow();
        return open(new HandedOver(context), resolved);
    }

    /**
     * Returns the file of OpenGL that the backends of this process call ({@code penstock.gl.libgl}), or its name for
     * the system's loader: for an application that calls OpenGL itself.
     *
     * @throws IllegalStateException if no backend has loaded it
     */
    public static String library() {
        String file = Gl.file();
        if (file.isEmpty()) {
            throw new IllegalStateException("OpenGL is not loaded: no backend gl is open");
        }
        return file;
    }

    private static Backend open(ContextSource source, Options options) {
        return GlProvider.open(GlContext.start(source), options);
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
