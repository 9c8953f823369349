// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a listener makes of peers that are not yet known. */
class HandshakeTest {

    private interface Step {
        void take(Socket accepted, long timeoutNanos) throws IOException;
    }

    private static void assertGivenUp(byte[] sent, Step step) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket peer = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket accepted = server.accept()) {
            Thread thread = new Thread(() -> trickle(peer, sent));
            thread.start();
            assertThatThrownBy(() -> step.take(accepted, TimeUnit.MILLISECONDS.toNanos(200)))
                    .isInstanceOf(SocketTimeoutException.class);
            thread.interrupt();
            thread.join();
        }
    }

    @Test
    void aPeerThatSendsAByteNowAndThenIsNotWaitedForForever() throws Exception {
        ByteBuffer hello = ByteBuffer.allocate(1 << 10)
                .putLong(0x50454e53544f434bL)
                .putInt(3)
                .putLong(UcxContext.segmentBytes());
        assertGivenUp(hello.array(), (accepted, timeout) -> Handshake.admit(accepted, token -> true, timeout));
    }

    /** As one that has a token might. */
    @Test
    void aPeerThatSendsAByteOfItsAddressNowAndThenIsNotEither() throws Exception {
        byte[] address = ByteBuffer.allocate(1 << 10).putInt(1000).array();
        assertGivenUp(address, (accepted, timeout) -> Handshake.exchange(accepted, new byte[1], timeout));
    }

    /** Sends bytes far slower than its listener waits, but each byte soon after the last. */
    private static void trickle(Socket peer, byte[] bytes) {
        try {
            OutputStream out = peer.getOutputStream();
            for (byte next : bytes) {
                out.write(next);
                Thread.sleep(20);
            }
        } catch (IOException | InterruptedException e) {
            // the listener has ended the connection
        }
    }
}
