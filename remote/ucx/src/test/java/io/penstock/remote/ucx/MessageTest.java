// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.remote.ucx.Message.Kind;
import io.penstock.remote.ucx.Message.Refusal;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The headers of messages: what is written is read, and nothing else. */
class MessageTest {

    private final long memory = NativeMemory.allocate(Message.BYTES);

    @AfterEach
    void free() {
        NativeMemory.free(memory);
    }

    @Test
    void everyKindIsReadAsItWasWritten() {
        for (Kind kind : Kind.values()) {
            Message message = new Message(kind, 3, 1L << 40, 7, Long.MAX_VALUE, 4 << 20);
            message.write(memory);
            assertThat(Message.read(memory, Message.BYTES)).isEqualTo(message);
        }
    }

    @Test
    void whatIsNoHeaderIsRefused() {
        Message.of(Kind.READ, 1, 2).write(memory);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Message.read(memory, Message.BYTES - 1))
                .withMessageContaining("must have 40 bytes, had 39");
        for (int kind : new int[] {-1, Kind.values().length}) {
            NativeMemory.view(memory, Message.BYTES).putInt(0, kind);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Message.read(memory, Message.BYTES))
                    .withMessageContaining("was " + (kind < 0 ? "" : kind));
        }
    }

    @Test
    void aRefusalOfALaterVersionIsPermanent() {
        for (Refusal refusal : Refusal.values()) {
            assertThat(Refusal.of(refusal.number)).isEqualTo(refusal);
        }
        assertThat(Refusal.of(99)).isEqualTo(Refusal.PERMANENT);
    }
}
