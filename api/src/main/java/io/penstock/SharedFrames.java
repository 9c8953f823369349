// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A connection of a shared read, as frames: a length, a kind, and what the kind has. What the socket does not take at once
 * is kept. Used by one thread, which selects and runs what is
 * attached to the keys.
 */
final class SharedFrames implements AutoCloseable {

    private static final int MOST_BYTES = 256 << 20;

    // Of a member: what it has and offers, the end of an order.
    static final byte HELLO = 1;
    static final byte ENDED = 2;
    // Of the host, and its echo: whether the memory is still the read's own.
    static final byte STILL = 3;
    // Of the host: why a member may not take part, how many have come, what one offers, who has left; orders; a copy
    // that counts; the end.
    static final byte REFUSED = 4;
    static final byte COME = 5;
    static final byte MEMBER = 6;
    static final byte LEFT = 7;
    static final byte READ = 8;
    static final byte COPY = 9;
    static final byte CONFIRMED = 10;
    static final byte END = 11;

    /** What the other end sends. */
    interface Receiver {

        /** Called for each frame. */
        void received(byte kind, DataInputStream frame) throws IOException;

        /** Called once, when the other end has closed the connection, has ended, or sends no frames. */
        void ended();
    }

    /** Writes what a frame has. */
    @FunctionalInterface
    interface Body {

        void write(DataOutputStream to) throws IOException;
    }

    private final SocketChannel channel;
    private final SelectionKey key;
    private final Receiver receiver;
    private final Deque<ByteBuffer> kept = new ArrayDeque<>();
    private ByteBuffer arriving = ByteBuffer.allocate(Integer.BYTES);
    private boolean hasLength;

    /** Takes a channel that does not block, and closes it if that fails. */
    SharedFrames(SocketChannel channel, Selector selector, Receiver receiver) throws IOException {
        this.channel = channel;
        this.receiver = receiver;
        try {
            this.key = channel.register(selector, SelectionKey.OP_READ, (Runnable) this::ready);
        } catch (IOException | RuntimeException | Error e) {
            channel.close();
            throw e;
        }
    }

    void send(byte kind, Body body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            DataOutputStream to = new DataOutputStream(bytes);
            to.writeInt(0);
            to.writeByte(kind);
            body.write(to);
        } catch (IOException e) {
            throw new AssertionError("bytes in memory", e);
        }
        ByteBuffer frame = ByteBuffer.wrap(bytes.toByteArray());
        kept.add(frame.putInt(0, frame.capacity() - Integer.BYTES));
        write();
    }

    void send(byte kind, int number) {
        send(kind, to -> to.writeInt(number));
    }

    /** Returns whether the socket has taken everything. */
    boolean isFlushed() {
        return kept.isEmpty();
    }

    private void write() {
        try {
            while (!kept.isEmpty()) {
                channel.write(kept.element());
                if (kept.element().hasRemaining()) {
                    break;
                }
                kept.remove();
            }
        } catch (IOException e) {
            kept.clear(); // the end is read
        }
        if (key.isValid()) {
            key.interestOps(SelectionKey.OP_READ | (kept.isEmpty() ? 0 : SelectionKey.OP_WRITE));
        }
    }

    private void ready() {
        write();
        boolean open;
        try {
            open = read();
        } catch (IOException | RuntimeException e) { // also what is no frame of a shared read
            open = false;
        }
        if (!open && key.isValid()) {
            close();
            receiver.ended();
        }
    }

    private boolean read() throws IOException {
        while (key.isValid()) {
            int read = channel.read(arriving);
            if (read < 0) {
                return false;
            }
            if (arriving.hasRemaining()) {
                return true;
            }
            if (hasLength) {
                DataInputStream frame = new DataInputStream(new ByteArrayInputStream(arriving.array()));
                receiver.received(frame.readByte(), frame);
                arriving = ByteBuffer.allocate(Integer.BYTES);
            } else {
                int length = arriving.getInt(0);
                if (length < 1 || length > MOST_BYTES) {
                    throw new IOException("not a frame of a shared read: its length is " + length);
                }
                arriving = ByteBuffer.allocate(length);
            }
            hasLength = !hasLength;
        }
        return true;
    }

    @Override
    public void close() {
        key.cancel();
        try {
            channel.close();
        } catch (IOException e) {
            // nothing is left to write, and its descriptor is free
        }
    }
}
