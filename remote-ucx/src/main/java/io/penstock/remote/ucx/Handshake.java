// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;

/** What two peers send each other over a socket before UCX connects them: their version, and the address of a worker. */
final class Handshake {

    private static final long MAGIC = 0x50454e53544f434bL; // PENSTOCK
    private static final int VERSION = 1;
    private static final int MOST_ADDRESS_BYTES = 1 << 20;

    private static final int KEEPALIVE_SECONDS = 10;
    private static final int KEEPALIVE_COUNT = 3;

    private Handshake() {}

    /** Sends an address, and returns that of the peer; blocks. */
    static byte[] exchange(Socket socket, byte[] address, long timeoutNanos) throws IOException {
        socket.setSoTimeout(
                (int) Math.max(1, Math.min(TimeUnit.NANOSECONDS.toMillis(timeoutNanos), Integer.MAX_VALUE)));
        ByteArrayOutputStream hello = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(hello);
        out.writeLong(MAGIC);
        out.writeInt(VERSION);
        out.writeInt(address.length);
        out.write(address);
        socket.getOutputStream().write(hello.toByteArray());

        DataInputStream in = new DataInputStream(socket.getInputStream());
        if (in.readLong() != MAGIC) {
            throw new IOException("the peer is no listener of Penstock");
        }
        int version = in.readInt();
        if (version != VERSION) {
            throw new IOException("the version of the peer must be " + VERSION + ", was " + version);
        }
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
