// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.HostView;
import io.penstock.Transfer;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Reads a part of a file in order, some windows ahead: one at first, and one more with each window that was read to its
 * end. A jump begins anew.
 *
 * <p><b>Ownership:</b> the windows belong to it, from the first read until the end of the part was read, a read has
 * failed, or it is closed: by its input, by the close of the file, or by a cleaner, since clones of inputs are never
 * closed.
 *
 * <p><b>Threading:</b> one thread reads; any may close. The lock is no monitor: a virtual thread that waits for a read
 * must not hold its carrier.
 */
final class ReadAhead {

    /** Memory for a part of a file, and the transfer that fills or writes it. */
    static final class Window {

        final DeviceBuffer memory;
        final HostView view;
        long start; // in the file
        int length; // of what it holds

        @Nullable
        CompletableFuture<@Nullable Completion> transfer;

        Window(DeviceBuffer memory) {
            this.memory = memory;
            this.view = memory.hostView().orElseThrow();
        }

        boolean holds(long offset) {
            return offset >= start && offset < start + length;
        }
    }

    private final VectorFile file;
    private final long last; // the end of the part
    private final long end; // in whole blocks if the file has them
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Window> windows = new ArrayDeque<>(); // in the order of the file
    private long next; // where the window behind the last one starts
    private volatile boolean closed;

    ReadAhead(VectorFile file, long end) {
        this.file = file;
        this.last = end;
        this.end = Math.min(file.length, (end + file.block - 1) / file.block * file.block);
    }

    /**
     * Fills {@code target} with the bytes from {@code from} on, which lie in the part.
     *
     * @return false if it is closed
     */
    boolean read(long from, ByteBuffer target) throws IOException {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            long at = from;
            while (target.hasRemaining()) {
                at += copy(window(at), at, target);
            }
            if (at >= last) {
                free();
            }
            return true;
        } catch (IOException | RuntimeException e) {
            free(); // the next read begins anew
            throw e;
        } finally {
            lock.unlock();
            if (closed) {
                close(); // which found it locked
            }
        }
    }

    private static int copy(Window window, long from, ByteBuffer target) {
        int at = (int) (from - window.start);
        int count = Math.min(target.remaining(), window.length - at);
        int limit = target.limit();
        window.view.read(at, target.limit(target.position() + count));
        target.limit(limit);
        return count;
    }

    /** Returns the window that holds {@code offset}, when it was read. */
    private Window window(long offset) throws IOException {
        Window first = windows.peek();
        if (first == null || offset < first.start || offset > next) {
            jump(offset);
            first = windows.element();
        }
        while (!first.holds(offset)) {
            windows.remove();
            request(idle(first));
            if (windows.size() < file.directory.windows && next < end) {
                request(new Window(Waiting.allocate(file.directory.backend, file.directory.windowBytes, file)));
            }
            first = windows.element();
        }
        Completion done = Waiting.await(Objects.requireNonNull(first.transfer), file);
        if (done.bytes() < first.length) {
            throw new EOFException(file + " has ended at " + (first.start + done.bytes()) + " bytes, had " + file.length
                    + " when it was opened");
        }
        return first;
    }

    /** Keeps the memory of one window. */
    private void jump(long offset) throws IOException {
        Window kept = windows.poll();
        free();
        next = offset / file.block * file.block;
        request(idle(kept));
    }

    /** Returns the window, or another if it is still being read into: what was passed over was never waited for. */
    private Window idle(@Nullable Window passed) throws IOException {
        if (passed != null && Objects.requireNonNull(passed.transfer).isDone()) {
            return passed;
        }
        if (passed != null) {
            passed.memory.close(); // which frees it behind the read
        }
        return new Window(Waiting.allocate(file.directory.backend, file.directory.windowBytes, file));
    }

    private void request(Window window) {
        window.start = next;
        window.length = (int) Math.min(window.memory.length(), end - next);
        if (window.length <= 0) {
            window.memory.close();
            return;
        }
        next += window.length;
        window.transfer = Waiting.submit(
                file.directory.backend,
                Transfer.read(file.file.region(window.start, window.length), window.memory.region(0, window.length)));
        file.directory.mergeRead.add(window.length);
        windows.add(window);
    }

    private void free() {
        for (Window window = windows.poll(); window != null; window = windows.poll()) {
            window.memory.close();
        }
    }

    /** Frees the windows, at the latest when a read that waits has ended; later reads return false. Does not block. */
    void close() {
        closed = true;
        if (lock.tryLock()) {
            free();
            lock.unlock();
        }
    }
}
