// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;

/**
 * Reads regions into memory of the executor's device, one at a time: the memory of a row is freed before that of the next
 * is taken, so that a task which waits for bytes in flight holds none.
 *
 * <p><b>Threading:</b> blocks, on the thread of a task; an interrupt cancels what is in flight.
 *
 * <p><b>Ownership:</b> holds a lease on the backend, the file and the memory that were read last, until it is closed.
 */
final class DeviceReader implements AutoCloseable {

    private final TransferMetric.Values metrics;
    private final FileTimes times;
    private final ExecutorBackend.Lease lease = ExecutorBackend.lease();
    private final LastFile files = new LastFile(lease.device());
    private final Deque<Runnable> held = new ArrayDeque<>();

    DeviceReader(TransferMetric.Values metrics, FileTimes times) {
        this.metrics = metrics;
        this.times = times;
    }

    /** Returns the handle of a region's bytes. */
    long read(Region region) throws IOException {
        release();
        checkFits(region);
        try {
            long started = System.nanoTime();
            held.push(lease.budget().acquire(region.length())::dispose);
            long granted = System.nanoTime();
            metrics.waited(granted - started);
            BufferRegion memory = region.isContiguous() ? memory(region) : load(region);
            metrics.read(System.nanoTime() - granted);
            TaskMemory task = TaskMemory.current();
            long handle = task.lend(memory);
            held.push(() -> task.end(handle));
            return handle;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("reading " + region + " was interrupted").initCause(e);
        }
    }

    private void checkFits(Region region) {
        if (region.length() > lease.budget().bytes()) {
            throw new IllegalArgumentException("a row in device memory must have at most "
                    + lease.budget().bytes() + " bytes, the value of " + ExecutorBackend.IN_FLIGHT + ", had " + region
                    + (region.isContiguous() ? "; the option regionBytes cuts it into several rows" : ""));
        }
    }

    private BufferRegion memory(Region region) throws IOException, InterruptedException {
        DeviceBuffer buffer = lease.device().blocking().allocate(region.length());
        held.push(buffer::close);
        if (region.length() > 0) {
            Completion completion = Objects.requireNonNull(lease.device()
                    .blocking()
                    .await(lease.device()
                            .submit(Transfer.read(
                                    files.of(region).region(region.offset(), region.length()),
                                    buffer.region(0, region.length())))));
            if (completion.bytes() < region.length()) {
                throw new EOFException("the file became shorter than when the query was planned: " + region);
            }
            metrics.moved(completion.path(), completion.bytes());
        }
        times.check(region.path()); // after the read: the file may have been written during it
        return buffer.region(0, region.length());
    }

    /** Loads an array that lies in chunks, which are decoded. */
    private BufferRegion load(Region region) throws IOException, InterruptedException {
        LoadedArrays loaded = Objects.requireNonNull(
                lease.device().blocking().await(Loader.of(lease.device()).load(files.arrayOf(region))));
        held.push(loaded::close);
        metrics.moved(TransferPath.HOST, region.length()); // where chunks are decoded
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
        files.close();
        lease.close();
    }
}
