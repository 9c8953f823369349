// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

/**
 * A context that the application has created to share with its own, and hands over: a hidden GLFW window, or a GLX or
 * WGL context. It is current on no thread; the backend makes it current on its own thread.
 *
 * <p><b>Threading:</b> both methods are called once, on the backend's thread; {@link #release} is called last.
 *
 * <p><b>Ownership:</b> the application owns it and keeps it until {@link #release} is called, which may destroy it.
 */
public interface SharedContext {

    /** Makes it current on the calling thread. */
    void makeCurrent();

    /** Makes it not current; no call is made in it afterwards. */
    void release();
}
