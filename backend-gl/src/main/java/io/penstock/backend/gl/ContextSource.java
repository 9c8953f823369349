// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

/** Where the context of a backend comes from, and what becomes of it; called on the thread that owns it. */
interface ContextSource {

    /**
     * Makes it current on this thread.
     *
     * @throws io.penstock.BackendUnavailableException if there is none to be had, with the reason
     */
    void begin();

    /** Lets go of it. */
    void end();
}
