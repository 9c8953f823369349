// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.DeviceBuffer;
import io.penstock.FileRegion;
import io.penstock.StorageFile;
import io.penstock.engine.publisher.DelayedErrors;
import io.penstock.engine.queue.DeliveryLoop;
import io.penstock.engine.queue.Port;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The chunks of a write that were filled: they wait for the end of their leases, then they are written. In turns only.
 */
final class ChunkWrites {

    private record Waiting(ChunkLease lease, long count) {}

    private final Port port;
    private final DeliveryLoop loop;
    private final ChunkBuffers buffers;
    private final DelayedErrors errors;
    private final List<Waiting> waiting = new ArrayList<>();
    private final List<ChunkTransfer> writes = new ArrayList<>();
    private long bytes;

    ChunkWrites(Port port, DeliveryLoop loop, ChunkBuffers buffers, DelayedErrors errors) {
        this.port = port;
        this.loop = loop;
        this.buffers = buffers;
        this.errors = errors;
    }

    /** Adds a chunk of which {@code count} bytes, possibly 0, are to be written. */
    void add(ChunkLease lease, long count) {
        waiting.add(new Waiting(lease, count));
    }

    /** Processes the writes that have ended, and starts writes whose leases have ended. */
    void proceed(StorageFile file) {
        for (Iterator<ChunkTransfer> each = writes.iterator(); each.hasNext(); ) {
            ChunkTransfer write = each.next();
            if (write.isOver()) {
                each.remove();
                settle(write);
            }
        }
        for (Iterator<Waiting> each = waiting.iterator(); each.hasNext(); ) {
            Waiting chunk = each.next();
            if (chunk.lease.isOver()) {
                each.remove();
                write(chunk, file);
            }
        }
    }

    private void settle(ChunkTransfer write) {
        Throwable error = write.error();
        if (error == null) {
            bytes += write.moved();
        } else {
            errors.add(error);
        }
        giveBack(write.buffer(), write.transfer().length());
    }

    private void write(Waiting chunk, StorageFile file) {
        DeviceBuffer memory = chunk.lease.memory();
        if (chunk.count == 0) {
            giveBack(memory, chunk.lease.length());
            return;
        }
        try {
            FileRegion to = file.region(chunk.lease.fileOffset(), chunk.count);
            ChunkTransfer write = ChunkTransfer.write(port, loop, memory, to);
            writes.add(write);
            write.open();
        } catch (RuntimeException e) {
            errors.add(e);
            giveBack(memory, chunk.lease.length());
        }
    }

    private void giveBack(DeviceBuffer memory, long length) {
        if (port.isPoisoning()) {
            Leases.poison(memory, length);
        }
        buffers.give(memory);
    }

    /** Returns the oldest lease whose end is waited for; null if something is being written, or nothing waits. */
    @Nullable
    ChunkLease waitedFor() {
        return writes.isEmpty() && !waiting.isEmpty() ? waiting.get(0).lease : null;
    }

    /** Returns true if nothing waits and nothing is being written. */
    boolean isIdle() {
        return waiting.isEmpty() && writes.isEmpty();
    }

    /** Returns the number of bytes written. */
    long bytes() {
        return bytes;
    }

    /** Cancels the writes in progress, and drops the waiting ones whose leases have ended. */
    void stop() {
        for (ChunkTransfer write : writes) {
            write.cancel();
            write.buffer().close(); // pinned until the device has released it
        }
        writes.clear();
        for (Iterator<Waiting> each = waiting.iterator(); each.hasNext(); ) {
            Waiting chunk = each.next();
            if (chunk.lease.isOver()) {
                each.remove();
                giveBack(chunk.lease.memory(), chunk.lease.length());
            }
        }
    }
}
