// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.DeviceBuffer;
import io.penstock.FileRegion;
import io.penstock.Transfer;
import io.penstock.engine.queue.DeliveryLoop;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.queue.Port;

/** A chunk of a stream: being read, or read. */
final class ReadAhead extends OpenTransfer {

    private final DeliveryLoop loop;
    private final DeviceBuffer target;
    private final int region;
    private final long requested;

    // Written on the I/O queue after everything that completion() reads, read in turns before it.
    private volatile boolean over;

    ReadAhead(Port port, DeliveryLoop loop, FileRegion chunk, DeviceBuffer target, int region) {
        super(port, Transfer.read(chunk, target.region(0, chunk.length())));
        this.loop = loop;
        this.target = target;
        this.region = region;
        this.requested = chunk.length();
    }

    @Override
    protected void ended() {
        over = true;
        loop.signal();
    }

    boolean isOver() {
        return over;
    }

    /** Returns the target buffer. */
    DeviceBuffer target() {
        return target;
    }

    /** Returns the region of the plan that the chunk is part of. */
    int region() {
        return region;
    }

    /** Returns the number of bytes read. Only when it is over, without error. */
    long got() {
        return completion().bytes();
    }

    /** Returns the number of bytes requested. */
    long requested() {
        return requested;
    }
}
