// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

/** Receives completions as they are drained, on the ring's thread. */
@FunctionalInterface
public interface CompletionHandler {

    /**
     * Handles one completion. Must not call the ring's {@code reap} or {@code close}; may submit.
     *
     * @param userData the user data that the operation was submitted with
     * @param result bytes, or 0, or {@code -errno}
     * @param flags IORING_CQE_F_ bits
     */
    void completed(long userData, int result, int flags);
}
