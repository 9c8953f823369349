// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.PenstockException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import org.jspecify.annotations.Nullable;

/** A request that belongs to no transfer, such as a sync. */
public interface SingleRequest {

    /** Describes the request. */
    void fill(Request request);

    /** Takes the end, on the lane; null where it ended well. */
    void ended(@Nullable NativeFailure failure);

    /** Returns whose it is. */
    Port port();

    /** Returns what was asked for, in the words of an error. */
    String asked();

    /**
     * Signals that the result will not be known, since the lane broke or the backend was closed; what the device may still use
     * stays as it is. Any thread, any number of times. After a broken lane {@link #ended} is not called; after a close it may
     * be, and frees what was used.
     */
    void lose(PenstockException why);
}
