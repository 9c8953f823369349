// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.NativeError;
import io.penstock.PenstockException;
import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.LateWord;
import io.penstock.backend.gpu.device.GpuPoint;
import io.penstock.backend.gpu.file.FileDriver;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import org.jspecify.annotations.Nullable;

/**
 * The file API's calls in the order of streams. An operation has completed when its stream has written a word behind it,
 * or has signalled an event where streams cannot write.
 *
 * <p>An operation is stream-ordered as soon as it is enqueued, and so is the fence of its transfer. An operation
 * requested on the application's stream goes there.
 *
 * <p>For a file with holes the stream clears the memory first: readAsync leaves the bytes of a hole unchanged.
 *
 * <p><b>Cancellation:</b> an operation cannot be removed from a stream.
 */
public final class StreamQueue extends PolledQueue {

    private final boolean[] streamed; // by tag: enqueued on a stream
    private final long[] events; // by tag: behind the operation, where its stream cannot write; kept for reuse
    private final boolean[] byEvent; // by tag
    private final @Nullable LateWord[] sizes; // by tag: the late size, released after the operation
    private final StreamLines lines;
    private @Nullable StreamCells cells; // this and opened: from the first request on
    private @Nullable FileDriver opened;

    public StreamQueue(GpuContext context, CallQueue others, int streams) {
        super(context, others);
        this.lines = new StreamLines(files, streams);
        this.streamed = new boolean[others.depth()];
        this.events = new long[others.depth()];
        this.byEvent = new boolean[others.depth()];
        this.sizes = new @Nullable LateWord[others.depth()];
    }

    @Override
    protected boolean leavesHoles() {
        return true;
    }

    @Override
    protected boolean isInFlight(int tag) {
        return streamed[tag];
    }

    @Override
    protected boolean startWaiting() {
        boolean any = false;
        try {
            for (CallTask next = next(); next != null; next = next()) {
                StreamCells open = prepare();
                StreamLine line = line(next);
                if (line == null) {
                    break;
                }
                any = true;
                start(open, line, takeNext());
            }
        } catch (PenstockException none) {
            failWaiting(none.nativeError()
                    .map(error -> driver.failureOf(error.call(), (int) error.code()))
                    .orElseGet(() -> driver.failure("memHostAlloc", DriverApi.OUT_OF_MEMORY)));
            return true;
        }
        return any;
    }

    private @Nullable StreamLine line(CallTask task) {
        GpuPoint point = task.point;
        long wanted = point == null ? 0 : point.stream(0);
        return wanted == 0 ? lines.pick(isAligned(task)) : lines.of(wanted);
    }

    private StreamCells prepare() {
        driver.check("a transfer in a stream", "ctxSetCurrent", context.rebind());
        StreamCells open = cells;
        if (open == null) {
            open = StreamCells.allocate(driver, streamed.length);
            cells = open;
            opened = FileDriver.join(files);
        }
        return open;
    }

    private static boolean isAligned(CallTask task) {
        long edges = task.restOffset() | task.rest() | task.offsetFrom(0);
        return (edges & (FileApi.BLOCK_BYTES - 1)) == 0;
    }

    /**
     * Returns the base address to pass. Where the file does not go directly, it is the address of the bytes themselves,
     * even in registered memory: libcufile 1.15.1 confuses the buffer offsets of several streams in POSIX mode
     * ({@code tools/benchmarks/experiments/streams.c}), which it chooses file by file.
     */
    private static long base(CallTask task) {
        return task.file().isDirect() ? task.base() : task.offsetFrom(0);
    }

    private void start(StreamCells open, StreamLine line, CallTask task) {
        long base = base(task);
        open.write(task, task.offsetFrom(base));
        long stream = line.stream();
        int prepared = clearHoles(task, stream);
        if (prepared == DriverApi.SUCCESS) {
            prepared = takeSize(open, task, stream);
        }
        if (prepared == DriverApi.SUCCESS) {
            long status = submit(open, base, task, stream);
            if (FileApi.error(status) != FileApi.SUCCESS) {
                task.fails(files.failureOfStatus(entry(task), status));
            }
        } else {
            task.fails(driver.failureOf(files.call(entry(task)), prepared));
        }
        // Also behind a refused operation: the stream may already be using the memory.
        byEvent[task.tag] = !open.mark(task.tag, stream);
        if (byEvent[task.tag] && !record(task.tag, stream)) {
            driver.streamSynchronize(stream);
        }
        streamed[task.tag] = true;
        line.operations().add(task);
        joinOrder(task, stream);
    }

    /** Places the point of the transfer's fence behind the operation, which is stream-ordered from now on. */
    private void joinOrder(CallTask task, long stream) {
        GpuPoint point = task.point;
        Runnable inOrder = task.inOrder;
        task.inOrder = null;
        if (point != null && inOrder != null && (byEvent[task.tag] || record(task.tag, stream))) {
            point.join(events[task.tag]);
            inOrder.run();
        }
    }

    private int clearHoles(CallTask task, long stream) {
        long sparse = task.sparseBytes();
        return sparse == 0 ? DriverApi.SUCCESS : driver.memsetD8Async(task.offsetFrom(0), (byte) 0, sparse, stream);
    }

    /**
     * The cell holds the maximum at submission, as the vendor requires, and the actual size when the stream reaches it.
     */
    private int takeSize(StreamCells open, CallTask task, long stream) {
        GpuPoint point = task.point;
        LateWord late = point == null ? null : point.takeSize();
        if (late == null) {
            return DriverApi.SUCCESS;
        }
        if (!late.enter()) {
            return DriverApi.INVALID_VALUE;
        }
        sizes[task.tag] = late;
        return driver.memcpyAsync(open.size(task.tag), late.address(), Long.BYTES, stream);
    }

    private long submit(StreamCells open, long base, CallTask task, long stream) {
        long handle = task.file().handle().id();
        long size = open.size(task.tag);
        long fileOffset = open.fileOffset(task.tag);
        long bufferOffset = open.bufferOffset(task.tag);
        long count = open.countAddress(task.tag);
        return task.kind() == Request.Kind.READ
                ? files.readAsync(handle, base, size, fileOffset, bufferOffset, count, stream)
                : files.writeAsync(handle, base, size, fileOffset, bufferOffset, count, stream);
    }

    private boolean record(int tag, long stream) {
        if (events[tag] == 0) {
            long[] event = new long[1];
            events[tag] = driver.eventCreate(event, DriverApi.EVENT_DISABLE_TIMING) == DriverApi.SUCCESS ? event[0] : 0;
        }
        return events[tag] != 0 && driver.eventRecord(events[tag], stream) == DriverApi.SUCCESS;
    }

    @Override
    protected void poll(boolean suspicious) {
        StreamCells open = cells;
        if (open == null) {
            return;
        }
        for (StreamLine line : lines.open()) {
            poll(open, line);
            if (suspicious && !line.operations().isEmpty()) {
                checkContext(open, line);
            }
        }
    }

    private void poll(StreamCells open, StreamLine line) {
        for (CallTask task = line.operations().peek();
                task != null;
                task = line.operations().peek()) {
            int state = state(open, task.tag);
            if (state == DriverApi.NOT_READY) {
                return;
            }
            completed(open, line.operations().remove(), state);
        }
    }

    private int state(StreamCells open, int tag) {
        if (!byEvent[tag]) {
            return open.isMarked(tag) ? DriverApi.SUCCESS : DriverApi.NOT_READY;
        }
        return events[tag] == 0 ? DriverApi.SUCCESS : driver.eventQuery(events[tag]);
    }

    /** A stream of a broken context writes no more words. */
    private void checkContext(StreamCells open, StreamLine line) {
        int state = driver.streamQuery(line.stream());
        if (state == DriverApi.NOT_READY) {
            return;
        }
        for (CallTask task = line.operations().poll();
                task != null;
                task = line.operations().poll()) {
            completed(open, task, state);
        }
    }

    private void completed(StreamCells open, CallTask task, int state) {
        streamed[task.tag] = false;
        countReleased();
        long count = open.count(task.tag);
        NativeFailure failure = task.failure(); // of an operation that was refused
        if (state != DriverApi.SUCCESS) {
            failure = driver.failureOf(files.call(entry(task)), state);
        } else if (failure == null && count < 0) {
            failure = files.failureOfLateCount(entry(task), count);
        }
        LateWord late = sizes[task.tag];
        if (late != null) {
            sizes[task.tag] = null;
            late.leave();
            NativeFailure wrong = state == DriverApi.SUCCESS && task.failure() == null
                    ? sizedLate(task, late, open.sizeFound(task.tag))
                    : null;
            failure = wrong == null ? failure : wrong; // rather than what was made of such a size
        }
        if (failure != null) {
            task.file().handle().failed(failure);
            fail(task, failure);
        } else if (task.point == null && task.goesOn(count)) { // else the engine looks who may already wait behind it
            again(task);
        } else {
            end(task, count);
        }
    }

    /** Shortens the request to the size that the stream has found in the cell; returns what is wrong with that size. */
    private @Nullable NativeFailure sizedLate(CallTask task, LateWord late, long found) {
        if (found < 0 || found > task.rest() || found % late.unit() != 0) {
            String note = "the late-bound size must be a multiple of " + late.unit() + " bytes, at most " + task.rest()
                    + ", was " + found;
            return new NativeFailure(
                    new NativeError(files.call(entry(task)), 0, files.symbol(FileApi.SUCCESS)),
                    NativeFailure.Kind.PERMANENT,
                    note);
        }
        task.resize(found);
        return null;
    }

    private static String entry(CallTask task) {
        return task.kind() == Request.Kind.READ ? "readAsync" : "writeAsync";
    }

    @Override
    public void close() {
        StreamCells open = cells;
        if (open != null) {
            // If the context is gone, they are too.
            context.attempt(() -> {
                lines.close();
                for (long event : events) {
                    if (event != 0) {
                        driver.eventDestroy(event);
                    }
                }
                open.free();
                return DriverApi.SUCCESS;
            });
        }
        if (opened != null) {
            opened.leave();
        }
        others.close();
    }
}
