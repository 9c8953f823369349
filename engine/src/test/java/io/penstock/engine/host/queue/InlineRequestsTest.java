// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.NativeError;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.testing.Requests;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** Copies and refusals that end in the next turn. */
class InlineRequestsTest {

    private final InlineRequests inline = new InlineRequests(2);
    private final Requests requests = new Requests();
    private final HostMemory memory = HostMemory.wrap(ByteBuffer.allocateDirect(64));
    private final HostMemory bounce = HostMemory.wrap(ByteBuffer.allocateDirect(64));

    /** Memory of which no more is known than where it lies. */
    private record Somewhere(long hostAddress, long bytes) implements DeviceMemory {

        @Override
        public long nativeHandle() {
            return hostAddress;
        }

        @Override
        public void free() {}
    }

    @Test
    void acceptedCommandsEndInOrderAndNoneIsLeft() {
        NativeFailure failure = new NativeFailure(new NativeError("read", 5, "EIO"), NativeFailure.Kind.PERMANENT);
        bounce.buffer(3, 1).put(0, (byte) 42);
        assertThat(inline.isEmpty()).isTrue();
        inline.copy(requests.next(0).copy(Request.Kind.COPY_IN, bounce, 3, 1).memory(memory, 9));
        inline.fail(requests.next(1), failure);
        assertThat(inline.isEmpty()).isFalse();
        assertThat(inline.run()).isEqualTo(2);
        assertThat(inline.isEmpty()).isTrue();
        assertThat(inline.run()).isZero();
        assertThat(requests.order()).containsExactly(0, 1);
        assertThat(requests.result(0)).isOne();
        assertThat(requests.failure(1)).containsSame(failure);
        assertThat(memory.buffer(9, 1).get(0)).isEqualTo((byte) 42);
    }

    @Test
    void placesAreUsedAgain() {
        for (int round = 0; round < 5; round++) {
            inline.copy(requests.next(round)
                    .copy(Request.Kind.COPY_OUT, bounce, round, 1)
                    .memory(memory, 63 - round));
            memory.buffer(63 - round, 1).put(0, (byte) (round + 1));
            assertThat(inline.run()).isOne();
        }
        assertThat(bounce.buffer(0, 8).getLong(0)).isEqualTo(bytes(1, 2, 3, 4, 5, 0, 0, 0));
    }

    private static long bytes(int... bytes) {
        ByteBuffer buffer = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
        for (int value : bytes) {
            buffer.put((byte) value);
        }
        return buffer.getLong(0);
    }

    @Test
    void memoryIsSeenAtItsOffsetWhateverIsKnownOfIt() {
        DeviceMemory somewhere = new Somewhere(memory.hostAddress(), memory.bytes());
        InlineRequests.buffer(somewhere, 17, 4).put(2, (byte) 6);
        assertThat(memory.buffer(19, 1).get(0)).isEqualTo((byte) 6);
        assertThat(InlineRequests.buffer(memory, 19, 3).get(0)).isEqualTo((byte) 6);
        assertThat(InlineRequests.buffer(somewhere, 17, 4).capacity()).isEqualTo(4);
    }
}
