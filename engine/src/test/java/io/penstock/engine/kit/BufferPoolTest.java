// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Shared;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BufferPoolTest {

    private static final Shared<Object, Device> OPEN = new Shared<>(Device::end);

    private final List<Buffer> released = new ArrayList<>();
    private final Device device = OPEN.open(this, Device::new);
    private final Pool pool = device.part(Pool.class, Pool::new);

    private static final class Device extends SharedContext<Device> {

        private boolean freed;

        Device() {
            super(OPEN);
        }

        private void end() {
            close();
        }

        @Override
        protected void free() {
            freed = true;
        }
    }

    private final class Pool extends BufferPool<Long, Buffer> {

        private boolean isFull;

        Pool(Device device) {
            super(device, Buffer::bytes);
        }

        @Override
        protected Buffer allocate(Long bytes) {
            if (isFull) {
                throw new IllegalStateException("no memory left");
            }
            return new Buffer(this, bytes);
        }

        @Override
        protected void release(Buffer buffer) {
            released.add(buffer);
        }

        @Override
        protected boolean isReusable(Buffer buffer) {
            return !buffer.isBroken;
        }
    }

    private static final class Buffer implements DeviceMemory {

        private final Pool pool;
        private final long bytes;
        private boolean isBroken;

        Buffer(Pool pool, long bytes) {
            this.pool = pool;
            this.bytes = bytes;
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public long nativeHandle() {
            return 1;
        }

        @Override
        public long hostAddress() {
            return 0;
        }

        @Override
        public void free() {
            pool.give(this);
        }
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(LiveObjects.count(Buffer.class)).isZero();
        assertThat(device.freed).isTrue();
    }

    @Test
    void aBufferIsUsedAgainForItsKindAndReleasedWithTheContext() {
        Buffer first = pool.take(4096L);
        assertThat(LiveObjects.count(Buffer.class)).isEqualTo(1);
        first.free();
        assertThat(pool.take(4096L)).isSameAs(first);
        Buffer other = pool.take(8192L);
        other.free();
        first.free();
        assertThat(released).as("released while the context is in use").isEmpty();
        device.leave();
        assertThat(released).containsExactlyInAnyOrder(first, other);
    }

    @Test
    void aBufferInUseKeepsTheContext() {
        Buffer buffer = pool.take(4096L);
        device.leave();
        assertThat(device.freed).isFalse();
        buffer.free();
        assertThat(released).containsExactly(buffer);
    }

    @Test
    void theContextHasNoUserMoreAfterAnAllocationThatFailed() {
        pool.isFull = true;
        assertThatThrownBy(() -> pool.take(4096L)).hasMessage("no memory left");
        device.leave();
    }

    @Test
    void whatCannotServeAgainAndWhatIsTooMuchIsReleasedAtOnce() {
        Buffer broken = pool.take(4096L);
        broken.isBroken = true;
        broken.free();
        assertThat(released).containsExactly(broken);
        Buffer large = pool.take(17L << 20);
        large.free();
        assertThat(released).containsExactly(broken, large);
        device.leave();
    }
}
