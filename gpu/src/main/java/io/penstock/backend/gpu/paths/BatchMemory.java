// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.NativeError;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.nio.ByteBuffer;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * The entries and events of a batch in native memory, which the library reads and writes; stays unchanged until the
 * entries have completed.
 *
 * <p>An entry holds a cell from its submission until its event. A submission takes adjacent cells. The I/O queue's
 * thread only.
 *
 * <p><b>Ownership:</b> {@link #close} frees it; nothing may be in flight.
 */
final class BatchMemory implements AutoCloseable {

    private static final int COUNT_BYTES = 8;
    private static final String CALL = "batchIO"; // the call of a completed entry

    private final FileApi files;
    private final NativeFailure timedOut; // the library abandoned an entry after its own timeout
    private final int cells;
    private final long params;
    private final long events;
    private final long count;
    private final ByteBuffer paramsView;
    private final ByteBuffer eventsView;
    private final ByteBuffer countView;
    private final BitSet taken;

    BatchMemory(FileApi files, int cells) {
        this.files = files;
        this.timedOut = new NativeFailure(
                new NativeError(
                        files.call(CALL), FileApi.IO_TIMEOUT, files.words().timedOut()),
                NativeFailure.Kind.TRANSIENT);
        this.cells = cells;
        long paramsBytes = (long) cells * FileApi.IO_PARAMS_BYTES;
        long eventsBytes = (long) cells * FileApi.IO_EVENTS_BYTES;
        this.params = NativeMemory.allocate(paramsBytes + eventsBytes + COUNT_BYTES);
        if (params == 0) {
            throw new OutOfMemoryError("no memory for a batch of " + cells);
        }
        NativeMemory.fill(params, paramsBytes + eventsBytes + COUNT_BYTES, (byte) 0);
        this.events = params + paramsBytes;
        this.count = events + eventsBytes;
        this.paramsView = NativeMemory.view(params, paramsBytes);
        this.eventsView = NativeMemory.view(events, eventsBytes);
        this.countView = NativeMemory.view(count, COUNT_BYTES);
        this.taken = new BitSet(cells);
    }

    /** Returns the first free cell from {@code from} on, or -1. */
    int free(int from) {
        int cell = taken.nextClearBit(from);
        return cell < cells ? cell : -1;
    }

    /** Writes an entry into a free cell and marks the cell as taken. */
    void write(int cell, CallTask task, long cookie) {
        taken.set(cell);
        int at = cell * FileApi.IO_PARAMS_BYTES;
        long base = task.base();
        paramsView.putInt(at + FileApi.IO_PARAMS_MODE_OFFSET, FileApi.IO_BATCH);
        paramsView.putLong(at + FileApi.IO_PARAMS_BASE_OFFSET, base);
        paramsView.putLong(at + FileApi.IO_PARAMS_FILE_OFFSET_OFFSET, task.restOffset());
        paramsView.putLong(at + FileApi.IO_PARAMS_BUFFER_OFFSET_OFFSET, task.offsetFrom(base));
        paramsView.putLong(at + FileApi.IO_PARAMS_SIZE_OFFSET, task.rest());
        paramsView.putLong(
                at + FileApi.IO_PARAMS_HANDLE_OFFSET, task.file().handle().id());
        int opcode = task.kind() == Request.Kind.READ ? FileApi.IO_READ : FileApi.IO_WRITE;
        paramsView.putInt(at + FileApi.IO_PARAMS_OPCODE_OFFSET, opcode);
        paramsView.putLong(at + FileApi.IO_PARAMS_COOKIE_OFFSET, cookie);
    }

    void release(int cell) {
        taken.clear(cell);
    }

    /** Submits the entries of {@code count} cells from {@code first} on; returns a status. */
    long submit(long batch, int first, int count) {
        return files.batchIOSubmit(batch, count, params + (long) first * FileApi.IO_PARAMS_BYTES, 0);
    }

    /** Polls for events without blocking; returns a status. */
    long poll(long batch, int most) {
        countView.putInt(0, most);
        return files.batchIOGetStatus(batch, 0, count, events, 0);
    }

    /** Returns the number of events that {@link #poll} received. */
    int polled() {
        return Math.min(countView.getInt(0), cells);
    }

    long cookie(int event) {
        return eventsView.getLong(event * FileApi.IO_EVENTS_BYTES + FileApi.IO_EVENTS_COOKIE_OFFSET);
    }

    /** Returns true if the entry of an event has completed. */
    boolean isEnd(int event) {
        return switch (status(event)) {
            case FileApi.IO_COMPLETE, FileApi.IO_CANCELED, FileApi.IO_TIMEOUT, FileApi.IO_FAILED, FileApi.IO_INVALID ->
                true;
            default -> false;
        };
    }

    /** Returns the bytes moved by the entry of an event, if it did not fail. */
    long count(int event) {
        return eventsView.getLong(event * FileApi.IO_EVENTS_BYTES + FileApi.IO_EVENTS_RET_OFFSET);
    }

    /** Returns the failure of the entry of an event that has completed; null if it succeeded. */
    @Nullable
    NativeFailure failure(int event) {
        long count = count(event);
        return switch (status(event)) {
            case FileApi.IO_CANCELED -> FileApi.CANCELLED;
            case FileApi.IO_TIMEOUT -> timedOut;
            case FileApi.IO_INVALID -> files.failure(CALL, FileApi.INVALID_VALUE);
            case FileApi.IO_FAILED ->
                count < 0 ? files.failureOfLateCount(CALL, count) : files.failure(CALL, FileApi.IO_ERROR);
            default -> count < 0 ? files.failureOfLateCount(CALL, count) : null;
        };
    }

    private int status(int event) {
        return eventsView.getInt(event * FileApi.IO_EVENTS_BYTES + FileApi.IO_EVENTS_STATUS_OFFSET);
    }

    @Override
    public void close() {
        NativeMemory.free(params);
    }
}
