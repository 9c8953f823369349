// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.TransientStorageException;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.backend.nvme.qemu.FaultyBus;
import io.penstock.backend.nvme.qemu.MemoryDisk;
import io.penstock.backend.nvme.qemu.NbdDisk;
import io.penstock.backend.nvme.qemu.Qemu;
import io.penstock.backend.nvme.qemu.QtestBus;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** As with a low {@code ulimit -l}: an opening that finds memory for some of its parts keeps none of them. */
class LackOfMemoryTest {

    private static final int ALLOCATIONS = 8; // a page, admin queues, shadow doorbells, PRP lists, queues
    private static final int MOST = 20;

    @Test
    void anOpeningThatFailsFreesWhatItHas() throws IOException {
        int refused = 0;
        try (NbdDisk disk = new NbdDisk(new MemoryDisk(1 << 20));
                Qemu qemu = Qemu.start(disk.drive(), "")) {
            for (int most = 0; most < MOST; most++) {
                FaultyBus bus = new FaultyBus(new QtestBus(qemu));
                bus.limitAllocations(most);
                try {
                    openAndClose(bus);
                } catch (TransientStorageException e) {
                    refused++;
                }
                assertThat(QtestBus.live())
                        .as("memory for DMA, of %d allocations", most)
                        .isZero();
            }
        }
        assertThat(refused).isEqualTo(ALLOCATIONS);
    }

    private static void openAndClose(FaultyBus bus) throws IOException {
        Controller controller = Controller.open("memory", () -> bus, Duration.ofSeconds(20));
        try {
            NvmeQueue.open(controller.join(), 4, 0).close();
        } finally {
            controller.leave();
        }
    }
}
