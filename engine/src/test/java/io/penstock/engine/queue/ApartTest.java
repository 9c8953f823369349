// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.FileOption;
import io.penstock.Transfer;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.FakePort;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.resource.OpenResources;
import io.penstock.engine.spi.Limits;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A gather of four pairs that one request takes, on a file that packs. */
class ApartTest {

    private static final int BLOCK = 1024;
    private static final long[] OFFSETS = {8192, 0, 20480, 4096};

    private final OpenResources resources = new OpenResources();
    private final FakePort port = new FakePort(0) {
        @Override
        public OpenResources resources() {
            return resources;
        }
    };
    private final FakeDevice device = new FakeDevice(new Limits(1, 1, 1 << 20, 8192, true));
    private final EngineFile file = new EngineFile(
            port,
            Path.of("model.bin"),
            Set.of(FileOption.READ),
            List.of(new EngineFile.OpenedFile(device.new MemoryFile(new byte[32768]), "")));
    private final EngineBuffer buffer =
            new EngineBuffer(port, HostMemory.wrap(ByteBuffer.allocateDirect(4 * BLOCK)), 4 * BLOCK);
    private final Segment segment = new Segment(0, null);

    @AfterEach
    void close() {
        file.close();
        buffer.close();
    }

    private OpenTransfer open(Transfer transfer) {
        OpenTransfer open = new OpenTransfer(port, transfer) {
            @Override
            protected void ended() {}
        };
        open.admit(FakePort.PATH, 0, null);
        return open;
    }

    private OpenTransfer gather() {
        OpenTransfer open = open(Transfer.gather(file, OFFSETS, BLOCK, buffer.all()));
        assertThat(open.nextSegment()).isTrue();
        segment.fill(open);
        assertThat(segment.packed).isTrue();
        assertThat(segment.pairCount).isEqualTo(4);
        assertThat(segment.bytes).isEqualTo(4 * BLOCK);
        assertThat(segment.file).isSameAs(file.nativeFile());
        assertThat(segment.memory).isSameAs(buffer.memory());
        return open;
    }

    @Test
    void aTransferThatEndsAsAWholeIsOneSegment() {
        OpenTransfer open = gather();
        segment.moved = 4 * BLOCK;
        assertThat(open.segmentEnded(segment)).isFalse();
        assertThat(open.nextSegment()).isFalse();
        assertThat(open.completion().bytes()).isEqualTo(4 * BLOCK);
        assertThat(open.completion().bytes(3)).isEqualTo(BLOCK);
    }

    @Test
    void shortSegmentsAreRestartedPairByPair() {
        OpenTransfer open = gather();
        segment.moved = 1500;
        assertThat(open.segmentEnded(segment)).isTrue();
        for (int pair = 0; pair < 4; pair++) {
            assertThat(open.nextSegment()).isTrue();
            segment.clear();
            segment.fill(open);
            assertThat(segment.packed).isFalse();
            assertThat(segment.pair).isEqualTo(pair);
            assertThat(segment.fileOffset).isEqualTo(OFFSETS[pair]);
            assertThat(segment.memoryOffset).isEqualTo(pair * (long) BLOCK);
            segment.moved = pair == 2 ? 100 : BLOCK;
            assertThat(open.segmentEnded(segment)).isFalse();
        }
        assertThat(open.nextSegment()).isFalse();
        assertThat(open.bytes()).isEqualTo(3 * BLOCK + 100);
        assertThat(open.completion().bytes(1)).isEqualTo(BLOCK);
        assertThat(open.completion().bytes(2)).isEqualTo(100);
    }

    @Test
    void shortCountsAfterAFailureAreIgnored() {
        OpenTransfer open = gather();
        open.fail(new IllegalStateException("stop"));
        segment.moved = 1500;
        assertThat(open.segmentEnded(segment)).isFalse();
        assertThat(open.nextSegment()).isFalse();
        assertThat(open.bytes()).isZero();
        assertThat(open.completion().bytes(0)).isZero();
    }

    @Test
    void abandonedSegmentsCountAsShortPairByPair() {
        OpenTransfer open = gather();
        segment.moved = 0;
        assertThat(open.segmentEnded(segment)).isTrue();
        assertThat(open.nextSegment()).isTrue();
        segment.clear();
        segment.fill(open);
        segment.moved = BLOCK;
        assertThat(open.segmentEnded(segment)).isFalse();
        open.abandonRest();
        assertThat(open.nextSegment()).isFalse();
        assertThat(open.bytes()).isEqualTo(BLOCK);
        assertThat(open.completion().bytes(0)).isEqualTo(BLOCK);
        assertThat(open.completion().bytes(1)).isZero();
        assertThat(open.completion().bytes(3)).isZero();
    }

    @Test
    void abandonedSegmentsOfAPairKeepTheBytesBeforeThem() {
        OpenTransfer open =
                open(Transfer.read(file.region(100, 20_000), bigBuffer().all()));
        assertThat(open.nextSegment()).isTrue();
        segment.fill(open);
        assertThat(segment.bytes).isLessThan(20_000);
        segment.moved = segment.bytes;
        assertThat(open.segmentEnded(segment)).isFalse();
        open.abandonRest();
        assertThat(open.bytes()).isEqualTo(segment.bytes);
        assertThat(open.completion().bytes(0)).isEqualTo(segment.bytes);
    }

    private EngineBuffer bigBuffer() {
        return new EngineBuffer(port, HostMemory.wrap(ByteBuffer.allocateDirect(20_000)), 20_000);
    }

    @Test
    void aTransferOfNothingHasNoSegmentAndOneThatFitsHasOne() {
        OpenTransfer empty = open(Transfer.read(file.region(0, 0), buffer.region(0, 0)));
        assertThat(empty.nextSegment()).isFalse();
        OpenTransfer fits = open(Transfer.read(file.region(5, 8192), bigBuffer().region(7, 8192)));
        assertThat(fits.nextSegment()).isTrue();
        segment.fill(fits);
        assertThat(segment.fileOffset).isEqualTo(5);
        assertThat(segment.memoryOffset).isEqualTo(7);
        assertThat(segment.bytes).isEqualTo(8192);
        assertThat(fits.nextSegment()).isFalse();
    }
}
