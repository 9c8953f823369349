// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.gl.platform.EglContext;
import io.penstock.backend.gl.platform.EglPlatform;

/**
 * A context for applications that draw without a window, on the device that {@code penstock.gl.device} names. It
 * replaces a hidden window as the context that shares buffers, textures and sync objects with a backend.
 *
 * <pre>{@code
 * try (HeadlessContext context = HeadlessContext.open(Options.none()); // current on this thread from now on
 *         Backend backend = context.share()) {
 *     ...
 * }
 * }</pre>
 *
 * <p><b>Threading:</b> open and close it on one thread, where it stays current; {@link #share} may be called on any
 * thread.
 *
 * <p><b>Ownership:</b> the caller of {@link #open} closes it, after the backends that share with it.
 */
public final class HeadlessContext implements AutoCloseable {

    private final Thread thread = Thread.currentThread();
    private final Options options;
    private final EglContext context;
    private boolean closed;

    private HeadlessContext(Options options, EglContext context) {
        this.options = options;
        this.context = context;
    }

    /**
     * Creates a context and makes it current on this thread.
     *
     * @throws io.penstock.BackendUnavailableException if there is no display, or its OpenGL is too old
     */
    public static HeadlessContext open(Options options) {
        Options resolved = options.resolve(Backends.options());
        EglPlatform platform = EglPlatform.find(resolved).orThrow();
        EglContext context = EglContext.on(platform.display());
        context.begin();
        return new HeadlessContext(resolved, context);
    }

    /** Opens a backend in its own context, which shares with this one. */
    public Backend share() {
        return GlBackends.sharing(display(), context(), options);
    }

    /** Returns the EGLDisplay. */
    public long display() {
        return context.display();
    }

    /** Returns the EGLContext. */
    public long context() {
        return context.handle();
    }

    /**
     * Destroys the context; a second call does nothing.
     *
     * @throws IllegalStateException if called on a thread where it is not current
     */
    @Override
    public void close() {
        if (Thread.currentThread() != thread) {
            throw new IllegalStateException("this context is current on " + thread.getName() + ", not on "
                    + Thread.currentThread().getName());
        }
        if (!closed) {
            closed = true;
            context.end();
        }
    }
}
