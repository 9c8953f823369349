// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.device;

import io.penstock.engine.spi.NativeFailure;
import org.jspecify.annotations.Nullable;

/**
 * Detects the completion of copies. A position behind all commands issued so far is marked, and the mark is polled.
 *
 * <p><b>Threading:</b> the executor's thread, except for {@link #equip} and {@link #strip}.
 */
public interface CopyCompletions {

    /**
     * The value at which an {@code ID3D11Fence} counts as signalled: {@link #fence} creates fences with 0 that reach
     * it.
     */
    long FENCE_VALUE = 1;

    /** Polls of a mark per check that the device is not removed. */
    int POLLS_PER_CHECK = 256;

    /** Creates the resources of a mark. */
    default void equip(CopyMark mark) {}

    /** Frees the resources that {@link #equip} created. */
    default void strip(CopyMark mark) {}

    /**
     * Marks the position behind all commands issued so far.
     *
     * @return the failure, or null
     */
    @Nullable
    NativeFailure mark(CopyMark mark);

    /**
     * Polls a mark: it may be signalled, or it may have failed, and {@link CopyMark#failure} has the reason.
     *
     * @return true if there is nothing more to wait for
     */
    boolean poll(CopyMark mark);

    /** Sets {@code event} when the next mark is signalled; returns false if it will not be set. */
    default boolean ring(long event) {
        return false;
    }

    /**
     * Returns a fence or query that is signalled behind all commands issued so far, with a reference that the caller
     * owns; 0 if the device does not create one.
     */
    long fence();

    /** Releases what is held for all marks. */
    default void close() {}
}
