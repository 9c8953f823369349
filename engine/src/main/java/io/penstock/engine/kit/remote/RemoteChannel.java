// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.remote;

import io.penstock.engine.spi.AsyncFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** A file on a server as a channel, for headers: reads ahead, one range at a time, and blocks meanwhile. */
final class RemoteChannel implements SeekableByteChannel {

    private static final int AHEAD_BYTES = 256 << 10;

    private final AsyncFile file;
    private final ByteBuffer ahead = ByteBuffer.allocateDirect(AHEAD_BYTES).limit(0); // guarded by this, as all below
    private long position; // of the next byte that is read
    private long aheadEnd; // where the bytes read ahead end in the file
    private boolean closed;

    /** Creates a channel, which closes the file. */
    RemoteChannel(AsyncFile file) {
        this.file = file;
    }

    @Override
    public synchronized int read(ByteBuffer to) throws IOException {
        check();
        long left = file.size() - position;
        if (left <= 0) {
            return -1;
        }
        if (!to.hasRemaining()) {
            return 0;
        }
        long from = aheadEnd - ahead.limit();
        if (position < from || position >= aheadEnd) {
            fill((int) Math.min(AHEAD_BYTES, left));
            from = position;
        }
        ByteBuffer found = ahead.duplicate().position((int) (position - from));
        int bytes = Math.min(found.remaining(), to.remaining());
        to.put(found.limit(found.position() + bytes));
        position += bytes;
        return bytes;
    }

    private void fill(int bytes) throws IOException {
        ahead.clear().limit(0);
        aheadEnd = 0;
        CompletableFuture<Void> ended = new CompletableFuture<>();
        ByteBuffer memory = ahead.duplicate();
        Runnable stop = file.read(position, memory.limit(bytes), error -> {
            if (error == null) {
                ended.complete(null);
            } else {
                ended.completeExceptionally(error);
            }
        });
        boolean interrupted = false;
        while (true) {
            try {
                ended.get();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
                stop.run(); // the memory is used until the read has ended
            } catch (ExecutionException | CancellationException e) { // the latter of a read that was ended early
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
                Throwable cause = e instanceof ExecutionException ? e.getCause() : e;
                throw new IOException(
                        "reading " + file + (interrupted ? " was interrupted: " : " failed: ") + cause, cause);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        ahead.limit(bytes);
        aheadEnd = position + bytes;
    }

    private void check() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public int write(ByteBuffer from) {
        throw new NonWritableChannelException();
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
    public SeekableByteChannel truncate(long size) {
        throw new NonWritableChannelException();
    }

    @Override
    public synchronized boolean isOpen() {
        return !closed;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            file.close();
        }
    }
}
