// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
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

    private static void assertGivenUp(byte[] sent, Step step) throws IOException {
        try (Socket accepted = new SlowPeer(sent)) {
            assertThatThrownBy(() -> step.take(accepted, TimeUnit.MILLISECONDS.toNanos(200)))
                    .isInstanceOf(SocketTimeoutException.class);
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

    /**
     * Sends a byte soon after its listener has taken the last, so that no single read waits for long. A peer behind a
     * real socket would go on sending while the test's thread does not run, and has then sent everything in time.
     */
    private static final class SlowPeer extends Socket {

        private final ByteArrayInputStream bytes;

        SlowPeer(byte[] bytes) {
            this.bytes = new ByteArrayInputStream(bytes);
        }

        @Override
        public InputStream getInputStream() {
            return new InputStream() {

                @Override
                public int read() throws IOException {
                    try {
                        Thread.sleep(20);
                    } catch (InterruptedException e) {
                        throw new InterruptedIOException();
                    }
                    return bytes.read();
                }

                @Override
                public int read(byte[] into, int offset, int length) throws IOException {
                    into[offset] = (byte) read();
                    return 1;
                }
            };
        }

        @Override
        public OutputStream getOutputStream() {
            return OutputStream.nullOutputStream();
        }

        @Override
        public void setSoTimeout(int millis) {
            // each byte comes in time
        }
    }
}
