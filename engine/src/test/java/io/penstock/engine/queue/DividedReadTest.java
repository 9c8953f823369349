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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Reads that are cut because the queue would execute several requests at the same time. */
class DividedReadTest {

    private static final int MIB = 1 << 20;

    private final OpenResources resources = new OpenResources();
    private final FakePort port = new FakePort(0) {
        @Override
        public OpenResources resources() {
            return resources;
        }
    };
    private final FakeDevice device = new FakeDevice(new Limits(4096, 1, 2 * MIB, 2 * MIB, true));
    private final EngineFile file = new EngineFile(
            port,
            Path.of("model.bin"),
            Set.of(FileOption.READ, FileOption.WRITE),
            List.of(new EngineFile.OpenedFile(device.new MemoryFile(new byte[0]), "")));
    private final EngineBuffer buffer =
            new EngineBuffer(port, HostMemory.wrap(ByteBuffer.allocateDirect(8 * MIB)), 8 * MIB);

    @AfterEach
    void close() {
        file.close();
        buffer.close();
    }

    /** Returns the bytes of each segment. */
    private List<Long> segments(Transfer transfer, int parallelism) {
        OpenTransfer open = new OpenTransfer(port, transfer) {
            @Override
            protected void ended() {}
        };
        open.admit(FakePort.PATH, 0, null);
        if (parallelism > 1) {
            open.divide(parallelism);
        }
        List<Long> bytes = new ArrayList<>();
        Segment segment = new Segment(0, null);
        while (open.nextSegment()) {
            segment.fill(open);
            bytes.add(segment.bytes);
        }
        return bytes;
    }

    private Transfer read(long bytes) {
        return Transfer.read(file.region(0, bytes), buffer.region(0, bytes));
    }

    @Test
    void aReadHasAsManySegmentsAsTheQueueExecutesAtATime() {
        assertThat(segments(read(2 * MIB), 1)).containsExactly(2L * MIB);
        assertThat(segments(read(2 * MIB), 4)).containsOnly(MIB / 2L).hasSize(4);
        assertThat(segments(read(6 * MIB), 12)).containsOnly(MIB / 2L).hasSize(12);
    }

    /** Three threads with four segments of 2 MiB would take two turns of 2 MiB, and two of them wait in the second. */
    @Test
    void whatNeedsSeveralTurnsHasAsManySegmentsInEach() {
        assertThat(segments(read(8 * MIB), 3)).hasSize(6).allMatch(bytes -> bytes <= 1.4 * MIB);
    }

    @Test
    void noSegmentIsTooSmallToBeWorthIt() {
        assertThat(segments(read(MIB), 12)).containsOnly(MIB / 4L).hasSize(4);
        assertThat(segments(read(MIB / 2), 12)).containsOnly(MIB / 4L).hasSize(2);
        assertThat(segments(read(MIB / 2 - 4096), 12)).hasSize(1);
    }

    @Test
    void noSegmentIsLargerThanTheFileTakes() {
        assertThat(segments(read(8 * MIB), 2)).containsOnly(2L * MIB).hasSize(4);
    }

    @Test
    void aGatherIsDividedAsWell() {
        long[] offsets = new long[512];
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = (offsets.length - i) * 8192L;
        }
        Transfer gather = Transfer.gather(file, offsets, 4096, buffer.region(0, 2 * MIB));
        assertThat(segments(gather, 1)).containsExactly(2L * MIB);
        assertThat(segments(gather, 8)).containsOnly(MIB / 4L).hasSize(8);
    }

    @Test
    void aWriteIsNotDivided() {
        Transfer write = Transfer.write(buffer.region(0, 2 * MIB), file.region(0, 2 * MIB));
        assertThat(segments(write, 12)).containsExactly(2L * MIB);
    }
}
