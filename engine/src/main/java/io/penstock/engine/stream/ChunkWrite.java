// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.DeviceBuffer;
import io.penstock.FileRegion;
import io.penstock.Transfer;
import io.penstock.engine.queue.DeliveryLoop;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.queue.Port;

/** A chunk of a write: being written, or written. */
final class ChunkWrite extends OpenTransfer {

    private final DeliveryLoop loop;
    private final DeviceBuffer source;

    // Written on the I/O queue after everything that completion() reads, read in turns before it.
    private volatile boolean over;

    ChunkWrite(Port port, DeliveryLoop loop, DeviceBuffer source, FileRegion to) {
        super(port, Transfer.write(source.region(0, to.length()), to));
        this.loop = loop;
        this.source = source;
    }

    @Override
    protected void ended() {
        over = true;
        loop.signal();
    }

    boolean isOver() {
        return over;
    }

    /** Returns the source buffer. */
    DeviceBuffer source() {
        return source;
    }
}
