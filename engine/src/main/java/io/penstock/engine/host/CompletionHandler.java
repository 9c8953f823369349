// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

/** Takes completions as they are drained, on the ring's lane. */
@FunctionalInterface
public interface CompletionHandler {

    /**
     * Takes one completion. It must not use the ring's {@code reap} or {@code close}; it may submit.
     *
     * @param userData the operation's, as it was submitted
     * @param result bytes, or 0, or {@code -errno}
     * @param flags IORING_CQE_F_ bits
     */
    void completed(long userData, int result, int flags);
}
