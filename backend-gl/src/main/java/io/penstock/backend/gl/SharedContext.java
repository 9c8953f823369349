// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

/**
 * A context that the application has made, to share with its own, and hands over: a hidden window of GLFW's, one of GLX or
 * WGL. Not current anywhere; the backend takes it to a thread of its own.
 *
 * <p><b>Threading:</b> both on that thread, once, the backend's end last.
 *
 * <p><b>Ownership:</b> the application's; it must stay until {@link #release} was called, which may destroy it.
 */
public interface SharedContext {

    /** Makes it current on the calling thread. */
    void makeCurrent();

    /** Makes it current no more; nothing is done in it afterwards. */
    void release();
}
