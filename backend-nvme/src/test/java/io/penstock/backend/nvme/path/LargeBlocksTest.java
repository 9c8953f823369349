// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.nvme.Extent;
import io.penstock.backend.nvme.ExtentMap;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.backend.nvme.controller.Namespace;
import io.penstock.backend.nvme.qemu.MemoryDisk;
import io.penstock.backend.nvme.qemu.NbdDisk;
import io.penstock.backend.nvme.qemu.Qemu;
import io.penstock.backend.nvme.qemu.QtestBus;
import io.penstock.engine.spi.Request;
import io.penstock.engine.testing.Requests;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A namespace whose blocks are larger than the controller's pages. */
class LargeBlocksTest {

    private static final int BLOCK = 16 << 10;
    private static final int LENGTH = 13_000;

    @Test
    void theLastBlockOfAFileIsReadUpToItsEnd() throws IOException {
        MemoryDisk content = new MemoryDisk(1 << 20);
        byte[] written = new byte[BLOCK];
        for (int i = 0; i < written.length; i++) {
            written[i] = (byte) (i * 31 + (i >> 12) * 7 + 1);
        }
        content.write(BLOCK, ByteBuffer.wrap(written));
        try (NbdDisk disk = new NbdDisk(content);
                Qemu qemu = Qemu.start(disk.drive(), "logical_block_size=" + BLOCK + ",physical_block_size=" + BLOCK)) {
            QtestBus bus = new QtestBus(qemu);
            Controller controller = Controller.open("large", () -> bus, Duration.ofSeconds(20));
            NvmeQueue queue = NvmeQueue.open(controller.join(), 4, 0);
            DmaMemory memory = bus.allocate(BLOCK);
            read(queue, file(controller), memory);
            byte[] found = new byte[BLOCK];
            memory.buffer(0, BLOCK).get(found);
            byte[] expected = Arrays.copyOf(Arrays.copyOf(written, LENGTH), BLOCK); // the rest as it was
            assertThat(Arrays.mismatch(found, expected)).isNegative();
            memory.free();
            queue.close();
            controller.leave();
        }
        QtestBus.assertAllFreed();
    }

    private static NvmeFile file(Controller controller) throws IOException {
        Namespace space = controller.namespace(1);
        assertThat(space.blockBytes()).isEqualTo(BLOCK);
        ExtentMap map = new ExtentMap(LENGTH, "A", 1, 1024, "", List.of(new Extent(0, BLOCK, BLOCK)));
        return new ExtentFile("large", map, space, BlockRanges.limits(controller, space, 1 << 20));
    }

    private static void read(NvmeQueue queue, NvmeFile file, DmaMemory memory) {
        Requests requests = new Requests();
        memory.buffer(0, BLOCK).put(new byte[BLOCK]);
        queue.enqueue(requests.next(0).file(Request.Kind.READ, file, 0, BLOCK).memory(memory, 0));
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (!requests.hasEnded(0)) {
            queue.turn(1_000_000);
            assertThat(System.nanoTime()).as("time").isLessThan(deadline);
        }
        assertThat(requests.failure(0)).isEmpty();
        assertThat(requests.result(0)).isEqualTo(LENGTH);
    }
}
