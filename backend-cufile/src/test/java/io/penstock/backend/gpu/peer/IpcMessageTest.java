// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.penstock.backend.cufile.ffi.Cuda;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What another process sends is checked before memory is opened by it. */
class IpcMessageTest {

    private static IpcMessage message(long offset, long bytes) {
        byte[] handle = new byte[Cuda.IPC_HANDLE_BYTES];
        handle[5] = 7;
        return new IpcMessage(new UUID(1, 2), new UUID(3, 4), ByteBuffer.wrap(handle), offset, bytes);
    }

    @Test
    void aMessageArrivesAsItWasSent() throws IOException {
        ByteBuffer sent = message(4096, 1 << 20).encoded();
        assertThat(sent.remaining()).isEqualTo(IpcMessage.BYTES);
        assertThat(IpcMessage.decoded(sent)).isEqualTo(message(4096, 1 << 20));
    }

    @Test
    void aMessageOfAnotherLayoutIsRefused() {
        ByteBuffer other = message(0, 1).encoded().put(7, (byte) '2');
        assertThatIOException()
                .isThrownBy(() -> IpcMessage.decoded(other))
                .withMessage("message of an exporter must start with 0x50454e5354495031, was 0x50454e5354495032");
    }

    @ParameterizedTest
    @CsvSource({"-1, 1", "0, -1", "9223372036854775807, 1", "1, 9223372036854775807"})
    void aRangeThatIsNoneIsRefused(long offset, long bytes) {
        assertThatIOException()
                .isThrownBy(() -> IpcMessage.decoded(message(offset, bytes).encoded()))
                .withMessage(
                        "message of an exporter must have a range of memory, was " + bytes + " bytes at " + offset);
    }
}
