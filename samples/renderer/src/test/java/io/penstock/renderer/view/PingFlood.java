// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** A WebSocket client that sends pings and reads nothing. */
final class PingFlood implements AutoCloseable {

    private static final int FRAME_BYTES = 2 + 4 + 125; // header, mask of zeros, content
    private static final long FULL_MILLIS = 2_000;

    private final SocketChannel socket = SocketChannel.open();

    PingFlood(int port) throws IOException {
        socket.setOption(StandardSocketOptions.SO_RCVBUF, 1 << 16);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        String host = "127.0.0.1:" + port;
        String upgrade = "GET /stream HTTP/1.1\r\nHost: " + host + "\r\nOrigin: http://" + host
                + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13"
                + "\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
        socket.write(ByteBuffer.wrap(upgrade.getBytes(StandardCharsets.US_ASCII)));
        socket.read(ByteBuffer.allocate(1)); // the answer begins: what follows may be frames
    }

    /**
     * Sends pings until the server has taken none for a while, or {@code most} bytes; returns how many it has taken.
     */
    long sentUntilFull(long most) throws IOException {
        ByteBuffer frames = ByteBuffer.allocate(FRAME_BYTES * 500);
        while (frames.hasRemaining()) {
            int next = frames.position() + FRAME_BYTES;
            frames.put((byte) 0x89).put((byte) (0x80 | 125)).position(next);
        }
        long sent = 0;
        frames.flip();
        socket.configureBlocking(false);
        try (Selector selector = Selector.open()) {
            socket.register(selector, SelectionKey.OP_WRITE);
            while (sent < most && selector.select(key -> {}, FULL_MILLIS) > 0) {
                sent += socket.write(frames);
                if (!frames.hasRemaining()) {
                    frames.rewind();
                }
            }
        }
        return sent;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
