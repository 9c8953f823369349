// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.ByteBuffer;

/**
 * A counted reference to the bytes of a chunk, valid beyond the function that the chunk was leased to.
 *
 * <p><b>Ownership:</b> the caller of {@link Chunk#retain} closes it; further calls do nothing. The leak detector
 * reports a lease that becomes unreachable unclosed. As an element of a Reactor stream it is closed by the discard hook
 * of {@link Backend#stream}. Thread-safe.
 */
public interface HostLease extends AutoCloseable {

    /** Returns a view of the bytes for the processor, which is checked until {@link #close()}. */
    HostView view();

    /** Returns the bytes in one window, as {@code view().buffer(0, length)}. */
    default ByteBuffer buffer() {
        HostView view = view();
        return view.buffer(0, Math.toIntExact(view.length()));
    }

    /** Releases the reference; a second call does nothing. Any thread. */
    @Override
    void close();
}
