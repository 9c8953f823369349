// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import jdk.net.ExtendedSocketOptions;

/**
 * What two peers send each other over a socket before UCX connects them: their version, the size of their segments, the
 * token of the reader, and the addresses of their workers.
 */
final class Handshake {

    private static final long MAGIC = 0x50454e53544f434bL; // PENSTOCK
    private static final int VERSION = 3;
    private static final int MOST_ADDRESS_BYTES = 1 << 20;

    private static final int KEEPALIVE_SECONDS = 10;
    private static final int KEEPALIVE_COUNT = 3;

    private Handshake() {}

    /**
     * Asks a listener for a connection; blocks.
     *
     * @param name of the listener
     * @param token of one of its exports
     * @throws NoSuchFileException if it has no such export
     */
    static void join(Socket socket, String name, String token, long timeoutNanos) throws IOException {
        ByteArrayOutputStream hello = hello();
        new DataOutputStream(hello).writeUTF(token);
        boolean found = begin(socket, hello, timeoutNanos).readBoolean();
        socket.setSoTimeout(millis(timeoutNanos));
        if (!found) {
            throw new NoSuchFileException("ucx://" + name + "/" + token, null, "the listener has no such export");
        }
    }

    /**
     * Takes a reader that has a token; blocks. One that has none gets no further: the fewer bytes of strangers reach
     * UCX, the better.
     *
     * @throws IOException if it has none, or is no reader
     */
    static void admit(Socket socket, Predicate<String> tokens, long timeoutNanos) throws IOException {
        boolean admitted = tokens.test(begin(socket, hello(), timeoutNanos).readUTF());
        socket.setSoTimeout(millis(timeoutNanos));
        socket.getOutputStream().write(admitted ? 1 : 0);
        if (!admitted) {
            throw new IOException("a reader has the token of no export");
        }
    }

    private static ByteArrayOutputStream hello() throws IOException {
        ByteArrayOutputStream hello = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(hello);
        out.writeLong(MAGIC);
        out.writeInt(VERSION);
        out.writeLong(UcxContext.segmentBytes());
        return hello;
    }

    private static DataInputStream begin(Socket socket, ByteArrayOutputStream hello, long timeoutNanos)
            throws IOException {
        socket.getOutputStream().write(hello.toByteArray());
        DataInputStream in = new DataInputStream(new TimedInput(socket, timeoutNanos));
        if (in.readLong() != MAGIC) {
            throw new IOException("the peer is no listener or reader of Penstock");
        }
        int version = in.readInt();
        if (version != VERSION) {
            throw new IOException("the version of the peer must be " + VERSION + ", was " + version);
        }
        checkSegments(in.readLong());
        return in;
    }

    /** Returns a timeout as sockets take it. */
    static int millis(long nanos) {
        return (int) Math.max(1, Math.min(TimeUnit.NANOSECONDS.toMillis(nanos), Integer.MAX_VALUE));
    }

    /**
     * Limits the time of all reads together: a peer that sends a byte now and then would hold a thread for as long as
     * it likes.
     */
    private static final class TimedInput extends FilterInputStream {

        private final Socket socket;
        private final long start = System.nanoTime();
        private final long nanos;

        TimedInput(Socket socket, long nanos) throws IOException {
            super(socket.getInputStream());
            this.socket = socket;
            this.nanos = nanos;
        }

        @Override
        public int read() throws IOException {
            limit();
            return super.read();
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            limit();
            return super.read(bytes, offset, length);
        }

        private void limit() throws IOException {
            long left = nanos - (System.nanoTime() - start);
            if (left <= 0) {
                throw new SocketTimeoutException("the peer has not introduced itself within " + millis(nanos) + " ms");
            }
            socket.setSoTimeout(millis(left));
        }
    }

    /** UCX sends segments of its own size, and ends a process that has less room for one. */
    private static void checkSegments(long other) throws IOException {
        long own = UcxContext.segmentBytes();
        if (own != other) {
            throw new IOException(UcxContext.SEGMENT_VARIABLE + " must be the same at both ends: it is " + own
                    + " at this one, and " + other + " at the other");
        }
    }

    /**
     * Sends the address of a worker, and returns the address that the peer sends, unchecked, after {@link #join} or
     * {@link #admit}; blocks.
     */
    static byte[] exchange(Socket socket, byte[] address, long timeoutNanos) throws IOException {
        ByteArrayOutputStream own = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(own);
        out.writeInt(address.length);
        out.write(address);
        socket.getOutputStream().write(own.toByteArray());

        DataInputStream in = new DataInputStream(new TimedInput(socket, timeoutNanos));
        int length = in.readInt();
        if (length < 1 || length > MOST_ADDRESS_BYTES) {
            throw new IOException(
                    "the address of a worker must have 1 to " + MOST_ADDRESS_BYTES + " bytes, had " + length);
        }
        byte[] other = new byte[length];
        in.readFully(other);
        socket.setSoTimeout(0);
        keepAlive(socket);
        return other;
    }

    /** Lets the socket end when the peer's host is not reached any more: it is otherwise silent. */
    private static void keepAlive(Socket socket) throws IOException {
        socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        if (socket.supportedOptions().contains(ExtendedSocketOptions.TCP_KEEPIDLE)) {
            socket.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, KEEPALIVE_SECONDS);
            socket.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, KEEPALIVE_SECONDS);
            socket.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, KEEPALIVE_COUNT);
        }
    }
}
