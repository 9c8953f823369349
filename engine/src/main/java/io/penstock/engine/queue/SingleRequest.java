// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.PenstockException;
import io.penstock.engine.resource.Owner;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import org.jspecify.annotations.Nullable;

/** A request that belongs to no transfer, such as a sync. */
public interface SingleRequest {

    void fill(Request request);

    /** Returns the lane of its file; as {@link io.penstock.engine.spi.NativeFile#lane}. */
    default @Nullable Object lane() {
        return null;
    }

    /** Called at its completion, on the I/O queue; null on success. */
    void ended(@Nullable NativeFailure failure);

    /** Returns the backend that it belongs to. */
    Owner owner();

    /** Returns the error that it will be told, of which its backend takes note first. */
    default PenstockException ending(PenstockException why) {
        owner().ending(why);
        return why;
    }

    /** Returns a description of the operation, for error messages. */
    String description();

    /**
     * Signals that the result will not be known, since the I/O queue broke or the backend was closed; memory that the
     * device may still use stays as it is. Any thread, any number of times. After a broken I/O queue {@link #ended} is
     * not called; after a close it may be, and frees what was used.
     */
    void lose(PenstockException why);

    /**
     * Signals as {@link #lose}, and releases what it holds: no I/O queue has started it, and none will. Any thread,
     * once.
     */
    void refuse(PenstockException why);
}
