// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.DeviceBuffer;
import io.penstock.FileRegion;
import io.penstock.Transfer;
import io.penstock.engine.queue.DeliveryLoop;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.queue.Port;

/** A chunk of a stream that is being read or was read, or one of a write that is being written or was written. */
final class ChunkTransfer extends OpenTransfer {

    private final DeliveryLoop loop;
    private final DeviceBuffer buffer;
    private final int region;

    // Written on the I/O queue after everything that completion() reads, read in turns before it.
    private volatile boolean over;

    private ChunkTransfer(Port port, DeliveryLoop loop, Transfer transfer, DeviceBuffer buffer, int region) {
        super(port, transfer);
        this.loop = loop;
        this.buffer = buffer;
        this.region = region;
    }

    /** Creates the read of a chunk in a region of the plan. */
    static ChunkTransfer read(Port port, DeliveryLoop loop, FileRegion chunk, DeviceBuffer target, int region) {
        return new ChunkTransfer(port, loop, Transfer.read(chunk, target.region(0, chunk.length())), target, region);
    }

    /** Creates the write of a chunk. */
    static ChunkTransfer write(Port port, DeliveryLoop loop, DeviceBuffer source, FileRegion to) {
        return new ChunkTransfer(port, loop, Transfer.write(source.region(0, to.length()), to), source, 0);
    }

    @Override
    protected void ended() {
        over = true;
        loop.signal();
    }

    boolean isOver() {
        return over;
    }

    DeviceBuffer buffer() {
        return buffer;
    }

    /** Returns the region of the plan that the chunk is part of. */
    int region() {
        return region;
    }

    /** Returns the number of bytes moved. Only when it is over, without error. */
    long moved() {
        return completion().bytes();
    }
}
