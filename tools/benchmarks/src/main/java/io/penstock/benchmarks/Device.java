// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.Options;
import java.io.IOException;

/**
 * A device by the API of an application: checks on the device itself what backends have moved, and makes them wait.
 *
 * <p><b>Threading:</b> the thread that opened it.
 */
interface Device extends AutoCloseable {

    /** Opens a backend on it, which the caller closes. */
    Backend open(Options options);

    /** Fills memory with a word that the test file does not contain, before reads into it. */
    void poison(long memory, long bytes) throws IOException;

    /**
     * Checks that memory holds the contents of the test file from an offset on.
     *
     * @throws IOException with the number of wrong words
     */
    void verify(long memory, long at, long bytes, long fileOffset) throws IOException;

    /** Creates a gate. */
    Gate gate() throws IOException;

    /** Returns the processor time of this process. */
    default long cpuNanos() {
        return Measure.processCpuNanos();
    }

    /** Throws if there are wrong words. */
    static void none(long wrong) throws IOException {
        if (wrong != 0) {
            throw new IOException(wrong + " wrong words");
        }
    }

    @Override
    void close();

    /** Work of the device that ends at a known time: what is behind it continues then. */
    interface Gate extends AutoCloseable {

        /** Begins the work, and returns the API's handle of its end. */
        long shut() throws IOException;

        /** Lets the work end, where it does not by itself. */
        void open() throws IOException;

        /** Returns when it ended, on the clock of {@link System#nanoTime()}. */
        long opened();

        /** Returns a fence behind the work, for a handle of {@link #shut}; the caller closes it. */
        DeviceFence fence(Backend backend, long shut);

        /** Returns the queue in which the work is. */
        default DeviceQueue queue() {
            throw new UnsupportedOperationException();
        }

        /** Releases the work, once nothing waits for it. */
        default void done() {}

        @Override
        void close() throws IOException;
    }

    /** What an application does without Penstock. */
    interface Application extends Device {

        /** Creates a buffer of the device. */
        long buffer(long bytes, DevicePeer.Way way);

        void free(long buffer);

        /** Allocates memory of the host, pinned for this device or, where the API has such memory, plain. */
        Host host(long bytes, boolean pinned);

        /** Copies from plain memory to a buffer; the memory is free for other use afterwards. */
        void write(long buffer, long at, Host from, long bytes);

        /** Copies from pinned memory to a buffer, some time before {@link #finish} returns. */
        void copy(Host from, long buffer, long at, long bytes);

        /** Returns how many of the bytes of a buffer are mapped at a time. */
        long mapBytes(long bytes, long segmentBytes);

        long map(long buffer, long at, long bytes);

        void unmap(long buffer, long address) throws IOException;

        /** Waits for the device. */
        void finish();

        /** Makes the calling thread one that may wait for the device; the result is closed on the same thread. */
        AutoCloseable enter();

        /**
         * Returns a wait for shut work, or for a copy of a block behind it, on another thread: returns when that saw
         * its end.
         */
        Measure.Work waiting(long shut, boolean copies);

        /** Memory of the host. */
        record Host(long handle, long address, Runnable free) {}
    }
}
