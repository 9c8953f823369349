// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.DeviceBuffer;
import io.penstock.TransientStorageException;
import io.penstock.engine.queue.Port;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The few buffers of one stream or write, reused.
 *
 * <p><b>Threading:</b> {@link #give} on any thread, everything else in turns.
 */
final class ChunkBuffers {

    private final Port port;
    private final Queue<DeviceBuffer> free = new ConcurrentLinkedQueue<>();
    private int most;
    private int made;

    ChunkBuffers(Port port, int most) {
        this.port = port;
        this.most = most;
    }

    /**
     * Returns a buffer, or null if all are in use. One is guaranteed (rule 304); if there is no memory for another, the
     * existing ones are used.
     *
     * @param bytes its length, the same in every call
     *
     * @throws io.penstock.PenstockException if not even the first can be allocated
     */
    @Nullable
    DeviceBuffer take(long bytes) {
        DeviceBuffer buffer = free.poll();
        if (buffer != null || made == most) {
            return buffer;
        }
        try {
            buffer = port.allocateNow(bytes);
            made++;
            return buffer;
        } catch (TransientStorageException e) {
            if (made == 0) {
                throw e;
            }
            most = made;
            return null;
        }
    }

    /** Returns a buffer; must be followed by a signal to the loop, which takes it again or closes it. */
    void give(DeviceBuffer buffer) {
        free.add(buffer);
    }

    /** Closes the buffers that are not in use. */
    void closeFree() {
        for (DeviceBuffer buffer = free.poll(); buffer != null; buffer = free.poll()) {
            buffer.close();
        }
    }
}
