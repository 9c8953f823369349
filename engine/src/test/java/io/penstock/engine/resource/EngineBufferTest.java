// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.BufferRegion;
import io.penstock.ClosedException;
import io.penstock.HostView;
import io.penstock.engine.FakePort;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.order.Pins;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** A buffer of 100 bytes with 28 more behind. */
class EngineBufferTest {

    private final OpenResources resources = new OpenResources();
    private final FakePort owner = new FakePort(0) {
        @Override
        public OpenResources resources() {
            return resources;
        }
    };
    private final Memory memory = new Memory();
    private final EngineBuffer buffer = resources.add(new EngineBuffer(owner, memory, 100));

    private static final class Memory implements DeviceMemory {
        int frees;

        @Override
        public long bytes() {
            return 128;
        }

        @Override
        public long nativeHandle() {
            return 7;
        }

        @Override
        public long hostAddress() {
            return 4096;
        }

        @Override
        public long slack() {
            return 28;
        }

        @Override
        public void free() {
            frees++;
        }
    }

    /** A file that may be read beyond the end of what was asked for, or may not. */
    private record ReadFile(boolean readsIntoSlack) implements NativeFile {

        @Override
        public Limits limits() {
            return Limits.none(4096);
        }

        @Override
        public Object identity() {
            return this;
        }

        @Override
        public long size() {
            return 0;
        }

        @Override
        public void truncate(long bytes) {}

        @Override
        public void preallocate(long bytes) {}

        @Override
        public void close() {}
    }

    @Test
    void slackFollowsTheLastByteOnlyAndIsForFilesThatAreReadIntoIt() {
        BufferRegion whole = buffer.all();
        assertThat(EngineBuffer.slack(new ReadFile(true), whole)).isEqualTo(28);
        assertThat(EngineBuffer.slack(new ReadFile(true), buffer.region(60, 40)))
                .isEqualTo(28);
        assertThat(EngineBuffer.slack(new ReadFile(true), buffer.region(0, 99))).isZero();
        assertThat(EngineBuffer.slack(new ReadFile(true), buffer.region(60, 39)))
                .isZero();
        assertThat(EngineBuffer.slack(new ReadFile(false), whole)).isZero();
        assertThat(EngineBuffer.address(whole)).isEqualTo(4096);
    }

    @Test
    void itIsRemovedAndFreedOnceItIsClosed() {
        assertThat(buffer).hasToString("buffer of 100 bytes on fake");
        assertThat(resources.count()).isOne();
        HostView view = buffer.hostView().orElseThrow();
        buffer.close();
        buffer.close();
        assertThat(memory.frees).isOne();
        assertThat(resources.count()).isZero();
        assertThatThrownBy(buffer::hostView).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> view.get(0)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> view.read(0, ByteBuffer.allocate(1))).isInstanceOf(ClosedException.class);
    }

    @Test
    void twoBuffersAreTheSameMemoryIfTheirHandlesAre() {
        EngineBuffer alias = new EngineBuffer(owner, new Memory(), 50);
        EngineBuffer anothers = new EngineBuffer(new FakePort(0), new Memory(), 50);
        assertThat(Identity.OF.of(alias)).isEqualTo(Identity.OF.of(buffer)).isNotEqualTo(Identity.OF.of(anothers));
    }

    /** Memory of the host, which refuses once it is freed, as a slab does. */
    private static final class HostBytes implements HostMemory {
        private final ByteBuffer bytes = ByteBuffer.allocate(100);
        private boolean freed;

        @Override
        public ByteBuffer buffer(long from, int length) {
            if (freed) {
                throw new IllegalStateException("freed");
            }
            return bytes.slice((int) from, length);
        }

        @Override
        public long bytes() {
            return 100;
        }

        @Override
        public long hostAddress() {
            return 4096;
        }

        @Override
        public void free() {
            freed = true;
        }
    }

    /** As another thread closes it. */
    @Test
    void aBufferThatIsClosedBehindTheCheckOfItsViewIsFreedBehindTheAccess() {
        HostBytes bytes = new HostBytes();
        Pins pins = new Pins(bytes::free);
        HostView view = new MemoryView(bytes, 100, pins::close, pins);
        assertThat(view.buffer(10, 5).remaining()).isEqualTo(5);
        assertThat(bytes.freed).isTrue();
    }
}
