// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Transfer;
import io.penstock.formats.LoadedArrays;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;

/**
 * Reads regions into memory of the executor's device, one at a time: the memory of a row is freed before the memory of
 * the next is taken, so that a task which waits for bytes in flight holds none. On the thread of a task.
 *
 * <p><b>Ownership:</b> holds the memory that was read last, too.
 */
final class DeviceReader extends ContentReader {

    private final Deque<Runnable> held = new ArrayDeque<>();

    DeviceReader(TransferMetric.Values metrics, FileTimes times) {
        super(metrics, times, ExecutorBackend.Lease::device);
    }

    /** Returns the handle of a region's bytes. */
    long read(Region region) throws IOException {
        release();
        checkFits(region);
        BufferRegion memory = granted(
                region,
                region.length(),
                permit -> held.push(permit::dispose),
                () -> region.isContiguous() ? memory(region) : decoded(region));
        TaskMemory task = TaskMemory.current();
        long handle = task.lend(memory);
        held.push(() -> task.end(handle));
        return handle;
    }

    private void checkFits(Region region) {
        if (region.length() > lease.budget().bytes()) {
            throw new IllegalArgumentException("a row in device memory must have at most "
                    + lease.budget().bytes() + " bytes, the value of " + ExecutorBackend.IN_FLIGHT + ", had " + region
                    + (region.isContiguous() ? "; the option regionBytes cuts it into several rows" : ""));
        }
    }

    private BufferRegion memory(Region region) throws IOException, InterruptedException {
        DeviceBuffer buffer = backend.blocking().allocate(region.length());
        held.push(buffer::close);
        if (region.length() > 0) {
            Transfer read = Transfer.read(
                    file(region).region(region.offset(), region.length()), buffer.region(0, region.length()));
            Completion completion = Objects.requireNonNull(backend.blocking().await(backend.submit(read)));
            if (completion.bytes() < region.length()) {
                throw new EOFException("the file became shorter than when the query was planned: " + region);
            }
            metrics.moved(completion.path(), completion.bytes());
        }
        times.check(region.path()); // after the read: the file may have been written during it
        return buffer.region(0, region.length());
    }

    private BufferRegion decoded(Region region) throws IOException, InterruptedException {
        LoadedArrays loaded = load(region);
        held.push(loaded::close);
        return loaded.arrays().get(0).region();
    }

    /** Frees the memory of the row that was read last. */
    void release() {
        while (!held.isEmpty()) {
            held.pop().run();
        }
    }

    @Override
    public void close() {
        release();
        super.close();
    }
}
