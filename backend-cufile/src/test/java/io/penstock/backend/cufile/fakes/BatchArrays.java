// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import static io.penstock.backend.cufile.fakes.Gpu.ok;

import com.sun.jna.Memory;

/** The arrays of a batch: its requests, and its results. */
final class BatchArrays implements AutoCloseable {

    static final int COMPLETE = 0x10;
    static final int CANCELED = 8;
    static final int FAILED = 0x40;

    private static final long IO = 64;
    private static final long EVENT = 24;

    private final Memory io;
    private final Memory events;
    private final int capacity;

    BatchArrays(int capacity) {
        this.capacity = capacity;
        io = new Memory(IO * capacity);
        io.clear();
        events = new Memory(EVENT * capacity);
        events.clear();
    }

    /** Asks for a read, as entry {@code at} of the array, whose cookie is {@code at}. */
    void read(int at, long handle, long base, long bytes, long fileOffset, long bufferOffset) {
        long entry = IO * at;
        io.setInt(entry, 1);
        io.setLong(entry + 8, base);
        io.setLong(entry + 16, fileOffset);
        io.setLong(entry + 24, bufferOffset);
        io.setLong(entry + 32, bytes);
        io.setLong(entry + 40, handle);
        io.setInt(entry + 48, 0);
        io.setLong(entry + 56, at);
    }

    void cookie(int at, long cookie) {
        io.setLong(IO * at + 56, cookie);
    }

    int submit(long batch, int from, int count) {
        return (int) CufileAbi.cuFileBatchIOSubmit(batch, count, io.share(IO * from), 0);
    }

    /** Waits for events, and returns how many came; millis -1 for ever. */
    int await(long batch, int least, long millis) {
        int[] count = {capacity};
        try (Memory timeout = new Memory(16)) {
            timeout.setLong(0, millis / 1000);
            timeout.setLong(8, millis % 1000 * 1_000_000);
            ok(CufileAbi.cuFileBatchIOGetStatus(batch, least, count, events, millis < 0 ? null : timeout));
        }
        return count[0];
    }

    long cookieOf(int event) {
        return events.getLong(EVENT * event);
    }

    int status(int event) {
        return events.getInt(EVENT * event + 8);
    }

    long result(int event) {
        return events.getLong(EVENT * event + 16);
    }

    @Override
    public void close() {
        io.close();
        events.close();
    }
}
