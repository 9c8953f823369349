// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.DeviceBuffer;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A buffer, and what must be in it. */
final class TestBuffer {
    static final int BYTES = 32 << 10;

    final DeviceBuffer buffer;
    final Content content;
    private int used;
    private boolean closed;

    TestBuffer(DeviceBuffer buffer, Chance chance) {
        this.buffer = buffer;
        byte[] initial = chance.bytes(BYTES);
        content = new Content(initial, BYTES);
        memory(0, BYTES).put(initial);
    }

    /** Returns bytes that no other attempt uses, or null if there are none. */
    @Nullable
    Place take(Chance chance, int bytes, int alignment) {
        int gap = chance.oneIn(2) ? 0 : chance.below(64);
        int at = used + gap;
        if (chance.oneIn(2)) {
            at = (at + alignment - 1) / alignment * alignment;
        }
        if (closed || at + bytes > BYTES) {
            return null;
        }
        used = at + bytes;
        return new Place(at, bytes);
    }

    ByteBuffer memory(int offset, int bytes) {
        return SimulatedMemory.view(buffer, offset, bytes);
    }

    boolean isClosed() {
        return closed;
    }

    /** Closes it, in use or not. */
    void close() {
        closed = true;
        buffer.close();
    }

    /** Allows that it is closed at any time from now on. */
    void closesWithTheBackend() {
        closed = true;
    }

    void check() {
        if (!closed) {
            int wrong = content.wrong(0, memory(0, BYTES), Integer.MAX_VALUE);
            if (wrong >= 0) {
                throw new Violation(
                        "206: byte " + wrong + " of a buffer was written by a transfer that does not use it");
            }
        }
    }
}
