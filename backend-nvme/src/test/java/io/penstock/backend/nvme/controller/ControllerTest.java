// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.qemu.MemoryDisk;
import io.penstock.backend.nvme.qemu.NbdDisk;
import io.penstock.backend.nvme.qemu.Qemu;
import io.penstock.backend.nvme.qemu.QtestBus;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The driver against QEMU's controller. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ControllerTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final long DISK_BYTES = 64 << 20;

    private NbdDisk disk;
    private Qemu qemu;
    private QtestBus bus;
    private Controller controller;

    @BeforeAll
    void start() throws IOException {
        disk = new NbdDisk(new MemoryDisk(DISK_BYTES));
        qemu = Qemu.start(disk.drive(), "mdts=9");
    }

    @AfterAll
    void stop() throws IOException {
        disk.close();
        if (qemu != null) {
            qemu.close();
        }
    }

    @BeforeEach
    void open() throws IOException {
        bus = new QtestBus(qemu);
        controller = Controller.open("test", () -> bus, TIMEOUT);
    }

    @AfterEach
    void close() {
        controller.leave();
        QtestBus.assertAllFreed();
    }

    @Test
    void itIsIdentified() throws IOException {
        assertThat(controller.identity().model()).isEqualTo("QEMU NVMe Ctrl");
        assertThat(controller.identity().serial()).isEqualTo("PENSTOCK");
        assertThat(controller.identity().maxBytes()).isEqualTo(4096L << 9);
        assertThat(controller.identity().sglAlignment()).isEqualTo(1);
        assertThat(controller.namespace(1)).isEqualTo(new Namespace(1, DISK_BYTES / 512, 512));
    }

    @Test
    void aNamespaceThatIsNotActiveIsRefused() {
        assertThatExceptionOfType(ControllerException.class)
                .isThrownBy(() -> controller.namespace(2))
                .withMessageContaining("namespace 2 of 0000:00:04.0 is not active");
    }

    /** Lists of PRPs are packed, so that most of these are chained. */
    @Test
    void commandsOfEverySizeMoveTheirBytes() throws IOException {
        moveEverySize(false, 0, 4, 512, 4092);
    }

    @Test
    void commandsWithScatterGatherListsMoveTheirBytesToAnyAddress() throws IOException {
        moveEverySize(true, 0, 1, 13, 4095);
    }

    private void moveEverySize(boolean sgl, int... offsets) throws IOException {
        QueuePair pair = controller.openQueuePair(8, -1);
        long most = controller.identity().maxBytes();
        PrpLists lists = new PrpLists(bus, 8, most);
        DmaMemory memory = bus.allocate(most + 4096);
        ByteBuffer bytes = memory.buffer(0, (int) memory.bytes());
        for (int size = 512; size <= most; size *= 2) {
            for (int offset : offsets) {
                int list = (size / 512 + offset) % 8;
                fill(bytes, offset, size);
                assertThat(move(pair, sgl ? null : lists, SubmissionEntry.WRITE, list, memory, offset, size))
                        .isZero();
                for (int i = 0; i < size; i++) {
                    bytes.put(offset + i, (byte) 0);
                }
                assertThat(move(pair, sgl ? null : lists, SubmissionEntry.READ, list, memory, offset, size))
                        .isZero();
                assertThat(firstDifference(bytes, offset, size))
                        .as("%d bytes at %d", size, offset)
                        .isNegative();
            }
        }
        memory.free();
        lists.free();
        controller.close(pair);
    }

    private static byte pattern(int i) {
        return (byte) (i * 31 + (i >> 9) * 7 + 1);
    }

    private static void fill(ByteBuffer bytes, int offset, int size) {
        for (int i = 0; i < size; i++) {
            bytes.put(offset + i, pattern(i));
        }
    }

    private static int firstDifference(ByteBuffer bytes, int offset, int size) {
        for (int i = 0; i < size; i++) {
            if (bytes.get(offset + i) != pattern(i)) {
                return i;
            }
        }
        return -1;
    }

    /** By a scatter-gather list if there are no lists of PRPs. */
    private int move(
            QueuePair pair, @Nullable PrpLists lists, int opcode, int list, DmaMemory memory, int offset, int size) {
        long address = memory.busAddress() + offset;
        SubmissionEntry entry = pair.next().command(opcode, list, 1).blocks(4096, size / 512);
        if (lists == null) {
            entry.segment(address, size);
        } else {
            entry.data(address, lists.second(list, address, size));
        }
        return await(pair, 1).get(list);
    }

    /** Rings, and returns the status of the next {@code count} commands by their identifiers. */
    private static Map<Integer, Integer> await(QueuePair pair, int count) {
        Map<Integer, Integer> statuses = new HashMap<>();
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        pair.ring();
        while (statuses.size() < count) {
            pair.poll((commandId, status, result) -> statuses.put(commandId, status));
            assertThat(System.nanoTime()).as("time").isLessThan(deadline);
        }
        return statuses;
    }

    @Test
    void commandsAreKnownByTheirIdentifiers() throws IOException {
        QueuePair pair = controller.openQueuePair(8, -1);
        DmaMemory memory = bus.allocate(4096);
        for (int round = 0; round < 5; round++) { // around the queue
            List<Integer> ids = new ArrayList<>(List.of(3, 77, 65_535, 12, 0, 9));
            for (int id : ids) {
                int namespace = id == 77 ? 9 : 1;
                pair.next()
                        .command(SubmissionEntry.READ, id, namespace)
                        .data(memory.busAddress(), 0)
                        .blocks(id % 7, 1);
            }
            Map<Integer, Integer> statuses = await(pair, ids.size());
            assertThat(statuses).containsOnlyKeys(ids);
            statuses.forEach(
                    (id, status) -> assertThat(status == 0).as("%s", id).isEqualTo(id != 77));
        }
        memory.free();
        controller.close(pair);
    }

    @Test
    void statusesAreFailuresWithTheirSymbol() throws IOException {
        QueuePair pair = controller.openQueuePair(8, -1);
        DmaMemory memory = bus.allocate(4096);
        long data = memory.busAddress();
        pair.next().command(SubmissionEntry.READ, 0, 1).data(data, 0).blocks(DISK_BYTES / 512, 1);
        pair.next().command(0x7f, 1, 1);
        pair.next().command(SubmissionEntry.READ, 2, 999).data(data, 0).blocks(0, 1);
        pair.next().command(SubmissionEntry.READ, 3, 1).data(data, 0).blocks(MemoryDisk.UNREADABLE, 1);
        pair.next().command(SubmissionEntry.WRITE, 4, 1).data(data, 0).blocks(MemoryDisk.FULL, 1);
        pair.next().command(SubmissionEntry.READ, 5, 1).data(data, data + 8).blocks(0, 16);
        Map<Integer, Integer> statuses = await(pair, 6);
        assertThat(symbol(statuses.get(0))).isEqualTo("NVMe Read -> NVME_SC_LBA_RANGE (128)");
        assertThat(symbol(statuses.get(1))).isEqualTo("NVMe Read -> NVME_SC_INVALID_OPCODE (1)");
        assertThat(symbol(statuses.get(2))).isEqualTo("NVMe Read -> NVME_SC_INVALID_NS (11)");
        assertThat(symbol(statuses.get(3))).isEqualTo("NVMe Read -> NVME_SC_READ_ERROR (641)");
        assertThat(symbol(statuses.get(4))).isEqualTo("NVMe Read -> NVME_SC_WRITE_FAULT (640)");
        assertThat(symbol(statuses.get(5))).isEqualTo("NVMe Read -> NVME_SC_PRP_INVALID_OFFSET (19)");
        memory.free();
        controller.close(pair);
    }

    private static String symbol(int status) {
        NativeFailure failure = Status.failure("Read", status);
        assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.PERMANENT);
        return failure.toString();
    }

    @Test
    void aWrongDoorbellHarmsNothing() throws IOException {
        int stride = 4;
        QueuePair pair = controller.openQueuePair(8, -1);
        bus.write(Registers.DOORBELLS + 2 * pair.id() * stride, 9999);
        bus.write(Registers.DOORBELLS + 2 * 60 * stride, 1);
        assertThat(controller.fault()).isEmpty();
        controller.close(pair);
        assertThat(controller.namespace(1).blocks()).isPositive();
    }

    @Test
    void aResetStartsANewGeneration() throws IOException {
        QueuePair pair = controller.openQueuePair(8, -1);
        controller.reset(0, "a test");
        controller.reset(0, "the same cause, found by another thread");
        assertThat(controller.generation()).isOne();
        QueuePair renewed = controller.renew(pair);
        assertThat(renewed.id()).isEqualTo(pair.id());
        renewed.next().command(SubmissionEntry.FLUSH, 1, 1);
        assertThat(await(renewed, 1)).containsEntry(1, 0);
        controller.close(renewed);
    }

    @Test
    void thereAreAsManyQueuePairsAsTheControllerHas() throws IOException {
        List<QueuePair> pairs = new ArrayList<>();
        assertThatExceptionOfType(ControllerException.class)
                .isThrownBy(() -> {
                    while (pairs.size() < 1000) {
                        pairs.add(controller.openQueuePair(2, -1));
                    }
                })
                .withMessageContaining("all 64 queue pairs of 0000:00:04.0 are in use");
        assertThat(pairs).hasSize(64);
        pairs.forEach(controller::close);
        controller.close(controller.openQueuePair(2, -1));
    }

    /** The goal is a tenth of a write for each command; without shadow doorbells it would be more than one. */
    @Test
    void shadowDoorbellsSaveMostWritesOfRegisters() throws IOException {
        assertThat(controller.identity().shadowDoorbells()).isTrue();
        QueuePair pair = controller.openQueuePair(32, -1);
        DmaMemory memory = bus.allocate(4096);
        int commands = 20_000;
        long before = bus.doorbellWrites();
        int[] completed = new int[1];
        for (int submitted = 0; completed[0] < commands; ) {
            for (; submitted < commands && submitted - completed[0] < 32; submitted++) {
                pair.next()
                        .command(SubmissionEntry.READ, submitted & 0xffff, 1)
                        .data(memory.busAddress(), 0)
                        .blocks(submitted % 1000, 1);
            }
            pair.ring();
            pair.poll((commandId, status, result) -> completed[0]++);
        }
        double writes = (double) (bus.doorbellWrites() - before) / commands;
        assertThat(writes).isLessThan(0.2); // 0.06 to 0.1, as fast as QEMU happens to be
        memory.free();
        controller.close(pair);
    }
}
