// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SeekableByteChannel;

/** A file as a channel: {@link BlockingBackend#channel}. The lock is held while a call moves bytes. */
final class SeekableFile implements SeekableByteChannel {

    private static final int MOST_BYTES = 256 << 10; // moved at a time

    private final BlockingBackend backend;
    private final StorageFile file;
    private final DeviceBuffer buffer; // guarded by this, as all below
    private long position;
    private boolean closed;

    SeekableFile(BlockingBackend backend, StorageFile file) throws InterruptedException {
        this.backend = backend;
        this.file = file;
        this.buffer = backend.allocate(MOST_BYTES);
    }

    @Override
    public synchronized int read(ByteBuffer target) throws IOException {
        check();
        int most = Math.min(target.remaining(), MOST_BYTES);
        if (most == 0) {
            return 0;
        }
        int bytes = moved(Transfer.read(file.region(position, most), buffer.region(0, most)));
        if (bytes == 0) {
            return -1;
        }
        int end = target.position() + bytes;
        backend.await(file, buffer.download(0, target.duplicate().limit(end)));
        target.position(end);
        position += bytes;
        return bytes;
    }

    @Override
    public synchronized int write(ByteBuffer source) throws IOException {
        check();
        int all = source.remaining();
        while (source.hasRemaining()) {
            int end = source.position() + Math.min(source.remaining(), MOST_BYTES);
            int most = end - source.position();
            backend.await(file, buffer.upload(0, source.duplicate().limit(end)));
            position += moved(Transfer.write(buffer.region(0, most), file.region(position, most)));
            source.position(end);
        }
        return all;
    }

    private int moved(Transfer transfer) throws IOException {
        Completion completion = backend.await(file, backend.backend().submit(transfer));
        return completion == null ? 0 : (int) completion.bytes();
    }

    private void check() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public synchronized long position() throws IOException {
        check();
        return position;
    }

    @Override
    public synchronized SeekableByteChannel position(long other) throws IOException {
        check();
        if (other < 0) {
            throw new IllegalArgumentException("position must be at least 0, was " + other);
        }
        position = other;
        return this;
    }

    @Override
    public synchronized long size() throws IOException {
        check();
        return file.size();
    }

    @Override
    public synchronized SeekableByteChannel truncate(long size) throws IOException {
        check();
        if (size < file.size()) {
            backend.await(file, file.truncate(size));
        }
        position = Math.min(position, size);
        return this;
    }

    @Override
    public synchronized boolean isOpen() {
        return !closed;
    }

    /** Frees the channel's memory; the file stays open. */
    @Override
    public synchronized void close() {
        closed = true;
        buffer.close();
    }
}
