// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.context;

/** The source of a backend's context; called on the thread that owns it. */
public interface ContextSource {

    /**
     * Makes it current on this thread.
     *
     * @throws io.penstock.BackendUnavailableException if no context is available, with the reason
     */
    void begin();

    /** Releases it. */
    void end();
}
