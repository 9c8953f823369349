// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.DeviceBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The one owner of several buffers. A buffer that is added after the set was closed is closed at once, so that a cancel
 * which overtakes an allocation leaves nothing. Thread-safe.
 */
final class BufferSet implements AutoCloseable {

    private final List<DeviceBuffer> buffers = new ArrayList<>(); // guarded by this
    private boolean closed; // guarded by this

    void add(DeviceBuffer buffer) {
        synchronized (this) {
            if (!closed) {
                buffers.add(buffer);
                return;
            }
        }
        buffer.close();
    }

    synchronized List<DeviceBuffer> buffers() {
        return List.copyOf(buffers);
    }

    /** Closes all buffers; a second call does nothing. */
    @Override
    public void close() {
        List<DeviceBuffer> owned;
        synchronized (this) {
            closed = true;
            owned = List.copyOf(buffers);
            buffers.clear();
        }
        owned.forEach(DeviceBuffer::close);
    }
}
