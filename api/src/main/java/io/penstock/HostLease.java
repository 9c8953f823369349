// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.ByteBuffer;

/**
 * A counted hold on the bytes of a chunk beyond the function that it was lent to.
 *
 * <p><b>Ownership:</b> the caller of {@link Chunk#retain} closes it: exactly once matters and more does no harm. One
 * that is dropped unclosed is reported by the leak detector. As an element of a Reactor stream it is closed by the
 * discard hook of {@link Backend#stream}. Thread-safe.
 */
public interface HostLease extends AutoCloseable {

    /** Returns the bytes as the processor sees them, checked until {@link #close()}. */
    HostView view();

    /** Returns the bytes in one window; as {@code view().buffer(0, length)}. */
    default ByteBuffer buffer() {
        HostView view = view();
        return view.buffer(0, Math.toIntExact(view.length()));
    }

    /** Ends the hold; a second call does nothing. Any thread. */
    @Override
    void close();
}
