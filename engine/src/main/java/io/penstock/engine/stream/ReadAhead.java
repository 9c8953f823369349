// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.DeviceBuffer;
import io.penstock.FileRegion;
import io.penstock.Transfer;
import io.penstock.engine.queue.DeliveryLoop;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.queue.Port;

/** A chunk of a stream that is being read, or was. */
final class ReadAhead extends OpenTransfer {

    private final DeliveryLoop loop;
    private final DeviceBuffer target;
    private final int region;
    private final long asked;

    // Written on the lane after everything that completion() looks at, read in turns before it.
    private volatile boolean over;

    ReadAhead(Port port, DeliveryLoop loop, FileRegion chunk, DeviceBuffer target, int region) {
        super(port, Transfer.read(chunk, target.region(0, chunk.length())));
        this.loop = loop;
        this.target = target;
        this.region = region;
        this.asked = chunk.length();
    }

    @Override
    protected void ended() {
        over = true;
        loop.signal();
    }

    boolean isOver() {
        return over;
    }

    /** Returns where the bytes go. */
    DeviceBuffer target() {
        return target;
    }

    /** Returns which region of the plan the chunk is of. */
    int region() {
        return region;
    }

    /** Returns how many bytes the file had. Only when it is over, without error. */
    long got() {
        return completion().bytes();
    }

    /** Returns how many there would be if the file were long enough. */
    long asked() {
        return asked;
    }
}
