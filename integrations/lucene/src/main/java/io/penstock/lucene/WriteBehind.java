// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.lucene.ReadAhead.Window;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes a file in order, some windows behind. A write that has failed is reported by a later call, at the latest by
 * {@link #close}, which then leaves nothing open.
 *
 * <p><b>Ownership:</b> owns the file. One thread.
 */
final class WriteBehind extends OutputStream {

    private final PenstockDirectory directory;
    private final StorageFile file;
    private final ArrayDeque<Window> busy = new ArrayDeque<>(); // in the order of their submission
    private @Nullable Window now; // being filled
    private long written; // submitted

    WriteBehind(PenstockDirectory directory, StorageFile file) {
        this.directory = directory;
        this.file = file;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] from, int offset, int count) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(from, offset, count);
        while (bytes.hasRemaining()) {
            Window window = now == null ? take() : now;
            now = window;
            int part = Math.min(bytes.remaining(), (int) window.memory.length() - window.length);
            int limit = bytes.limit();
            window.view.write(window.length, bytes.limit(bytes.position() + part));
            bytes.limit(limit);
            window.length += part;
            if (window.length == window.memory.length()) {
                submit(window);
            }
        }
    }

    private Window take() throws IOException {
        if (busy.size() < directory.windows) {
            return new Window(Waiting.allocate(directory.backend, directory.windowBytes, file.path()));
        }
        await(busy.element());
        Window free = busy.remove();
        free.length = 0;
        return free;
    }

    private void submit(Window window) {
        window.transfer = Waiting.submit(
                directory.backend,
                Transfer.write(window.memory.region(0, window.length), file.region(written, window.length)));
        directory.mergeWritten.add(window.length);
        written += window.length;
        now = null;
        busy.add(window);
    }

    private void await(Window window) throws IOException {
        Waiting.await(Objects.requireNonNull(window.transfer), file.path());
    }

    /**
     * Waits until all is written and durable: some file systems report only then that they could not keep it, and
     * Lucene deletes what it has merged.
     */
    @Override
    public void close() throws IOException {
        try (file) {
            if (now != null) {
                submit(now);
            }
            for (Window window : busy) {
                await(window);
            }
            Waiting.sync(directory.backend, file);
        } finally {
            if (now != null) {
                now.memory.close();
                now = null;
            }
            busy.forEach(window -> window.memory.close());
            busy.clear();
        }
    }
}
