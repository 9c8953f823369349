// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.penstock.FileOption;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.backend.nvme.controller.ControllerException;
import io.penstock.backend.nvme.qemu.FaultyBus;
import io.penstock.backend.nvme.qemu.MemoryDisk;
import io.penstock.backend.nvme.qemu.NbdDisk;
import io.penstock.backend.nvme.qemu.Qemu;
import io.penstock.backend.nvme.qemu.QtestBus;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import io.penstock.engine.testing.Requests;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The queue against QEMU's controller: what goes wrong, and that every request ends once. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class NvmeQueueTest {

    private static final String DEVICE = "0000:00:04.0";
    private static final Duration TIMEOUT = Duration.ofMillis(300);
    private static final long PATIENCE_NANOS = 20_000_000_000L;

    private final MemoryDisk content = new MemoryDisk(16 << 20);
    private NbdDisk disk;
    private Qemu qemu;
    private QtestBus qtest;
    private int opened;
    private FaultyBus bus;
    private Controller controller;
    private NvmeQueue queue;
    private NvmeFile file;
    private DmaMemory memory;
    private Requests requests;

    @BeforeAll
    void start() throws IOException {
        disk = new NbdDisk(content);
        qemu = Qemu.start(disk.drive(), "");
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
        requests = new Requests();
        qtest = new QtestBus(qemu);
        bus = new FaultyBus(qtest);
        controller = Controller.open("queue" + ++opened, () -> bus, TIMEOUT); // not one that a failed test has left
        queue = NvmeQueue.open(controller.join(), 16, 0);
        bus.keepFromReset(bus.lastAllocated());
        file = (NvmeFile)
                new BlockRanges(controller, true, 1 << 20).open(Path.of(DEVICE, "1"), Set.of(FileOption.WRITE));
        memory = bus.allocate(64 << 10);
    }

    @AfterEach
    void close() {
        memory.free();
        queue.close();
        controller.leave();
        QtestBus.assertAllFreed();
    }

    private void turnUntil(NvmeQueue queue, BooleanSupplier done) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!done.getAsBoolean()) {
            queue.turn(1_000_000);
            assertThat(System.nanoTime()).as("time").isLessThan(deadline);
        }
    }

    private Request read(Requests of, int tag) {
        return of.next(tag)
                .file(Request.Kind.READ, file, tag * 4096L, 4096)
                .memory(memory, tag * 4096L % memory.bytes());
    }

    private Request write(int tag, NvmeFile file, long offset, long bytes) {
        return requests.next(tag).file(Request.Kind.WRITE, file, offset, bytes).memory(memory, 0);
    }

    private NativeFailure failure(int tag) {
        turnUntil(queue, () -> requests.hasEnded(tag));
        return requests.failure(tag).orElseThrow();
    }

    @Test
    void aSyncFlushesTheDisk() {
        int before = content.flushes();
        queue.enqueue(write(0, file, 0, 4096));
        turnUntil(queue, () -> requests.hasEnded(0));
        assertThat(content.flushes()).isEqualTo(before);
        queue.enqueue(requests.next(1).sync(file));
        assertThat(requests.hasEnded(1)).as("ended by enqueue").isFalse();
        turnUntil(queue, () -> requests.hasEnded(1));
        assertThat(requests.result(1)).isZero();
        assertThat(content.flushes()).isEqualTo(before + 1);
    }

    /** Otherwise each completion that the thread naps for makes the next nap longer. */
    @Test
    void aCompletionThatANapEndsWithCountsAsProgressSoThatTheQueuePollsForTheNext() throws IOException {
        long day = Duration.ofDays(1).toNanos();
        NvmeQueue polling = NvmeQueue.open(controller.join(), 16, day);
        ByteBuffer completions = bus.lastAllocated().buffer(0, 16).order(ByteOrder.LITTLE_ENDIAN);
        AtomicInteger naps = new AtomicInteger();
        BooleanSupplier napBegins = () -> {
            if (naps.getAndIncrement() == 0) {
                content.release();
                awaitPhase(completions);
            }
            return false;
        };
        polling.wakeup().checkFor(napBegins);
        content.hold();
        try {
            polling.enqueue(read(requests, 0));
            polling.turn(-1);
            assertThat(requests.hasEnded(0)).isTrue();
            assertThat(naps).hasValue(1);

            content.hold();
            polling.enqueue(read(requests, 1));
            polling.turn(-1);
            polling.turn(-1);
            assertThat(naps).as("of a queue that polls for a day").hasValue(1);
            content.release();
            turnUntil(polling, () -> requests.hasEnded(1));
        } finally {
            content.release();
            polling.close();
        }
    }

    private void awaitPhase(ByteBuffer completion) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while ((completion.getInt(12) & 1 << 16) == 0) {
            assertThat(controller.fault()).isEmpty(); // reads a register: the next look is at memory again
            assertThat(System.nanoTime()).as("time").isLessThan(deadline);
        }
    }

    /** The disk does one operation a second, and QEMU aborts none. */
    @Test
    void aTimeoutResetsTheControllerAndTheCommandsOfAllQueuesFailOnce() throws IOException {
        NvmeQueue other = NvmeQueue.open(controller.join(), 16, 0);
        bus.keepFromReset(bus.lastAllocated());
        Requests others = new Requests();
        qemu.throttle(1);
        try {
            for (int tag = 0; tag < 6; tag++) {
                queue.enqueue(read(requests, tag));
                other.enqueue(read(others, tag));
            }
            other.turn(0);
            turnUntil(queue, () -> requests.ended() == 6);
            turnUntil(other, () -> others.ended() == 6);
            qemu.throttle(0);
            assertThat(controller.generation()).isOne();
            NativeFailure failure = requests.failure(5).orElseThrow();
            assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.TRANSIENT);
            assertThat(failure.error().symbol()).isEqualTo("NVME_SC_HOST_ABORTED_CMD");
            assertThat(others.failure(5)).hasValue(failure);

            queue.enqueue(read(requests, 7));
            other.enqueue(read(others, 7));
            turnUntil(queue, () -> requests.hasEnded(7));
            turnUntil(other, () -> others.hasEnded(7));
            assertThat(requests.result(7)).isEqualTo(4096);
            assertThat(others.result(7)).isEqualTo(4096);
        } finally {
            qemu.throttle(0);
            other.close();
        }
    }

    @Test
    void controllerFatalStatusResetsTheController() {
        qemu.throttle(1);
        for (int tag = 0; tag < 3; tag++) {
            queue.enqueue(read(requests, tag));
        }
        queue.turn(0);
        bus.fail();
        turnUntil(queue, () -> requests.ended() == 3);
        qemu.throttle(0);
        assertThat(controller.generation()).isOne();
        queue.enqueue(read(requests, 4));
        turnUntil(queue, () -> requests.hasEnded(4));
        assertThat(requests.result(4)).isEqualTo(4096);
    }

    @Test
    void aDeviceWithoutBusMasteringIsLost() {
        qtest.configure(4, 2);
        queue.enqueue(read(requests, 0));
        assertThat(failure(0).kind()).isEqualTo(NativeFailure.Kind.LOST);
        queue.enqueue(read(requests, 1));
        assertThat(failure(1).kind()).isEqualTo(NativeFailure.Kind.LOST);
        assertThat(bus.isStopped()).isTrue();
        assertThat(requests.ended()).isEqualTo(2);
    }

    @Test
    void aRemovedDeviceIsLostAtOnce() {
        qemu.throttle(1);
        queue.enqueue(read(requests, 0));
        queue.enqueue(read(requests, 1));
        queue.turn(0);
        bus.remove();
        NativeFailure failure = failure(1);
        qemu.throttle(0);
        assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.LOST);
        assertThat(failure.error().symbol()).isEqualTo("ALL_ONES");
        assertThat(controller.lost()).isNotNull();
        assertThatExceptionOfType(ControllerException.class).isThrownBy(() -> controller.namespace(1));
    }

    @Test
    void badAttributesOfTheAdminQueueAreFatal() {
        bus.loseAttributes();
        controller.reset(0, "a test");
        assertThat(controller.lost()).hasToString("CSTS -> CFS (2); the controller could not be reset");
        queue.enqueue(read(requests, 0));
        assertThat(failure(0).kind()).isEqualTo(NativeFailure.Kind.LOST);
    }

    /** Carried out later, it would overwrite the answer to the next one. */
    @Test
    void anIdentifyThatDoesNotCompleteInTimeResetsTheController() throws IOException {
        bus.ignoreAdminCommands();
        assertThatExceptionOfType(ControllerException.class)
                .isThrownBy(() -> controller.namespace(1))
                .withMessageContaining("no completion within 300 ms");
        assertThat(controller.generation()).isOne();
        assertThat(controller.lost()).isNull();
        assertThat(controller.namespace(1).blocks()).isPositive();
        assertThatExceptionOfType(ControllerException.class).isThrownBy(() -> controller.namespace(2));
        assertThat(controller.generation()).as("after one that has failed").isOne();
    }

    @Test
    void aResetNeedsNoMemory() throws IOException {
        bus.limitAllocations(0);
        controller.reset(0, "a test");
        assertThat(controller.lost()).isNull();
        assertThat(controller.namespace(1).blocks()).isPositive();

        queue.enqueue(read(requests, 0));
        turnUntil(queue, () -> requests.hasEnded(0));
        assertThat(requests.failure(0)).isPresent(); // as all that are in flight
        queue.enqueue(read(requests, 1));
        turnUntil(queue, () -> requests.hasEnded(1));
        assertThat(requests.result(1)).isEqualTo(4096);
    }

    /** The PRP lists of 1000 commands of 512 KiB take a MiB, of the 8 MiB that a process may lock. */
    @Test
    void aControllerThatHasScatterGatherListsNeedsNoMemoryForPrpLists() throws IOException {
        assertThat(controller.identity().sglAlignment()).isPositive();
        long before = bus.allocated();
        NvmeQueue.open(controller.join(), 1000, 0).close();
        assertThat(bus.allocated() - before).isLessThan(128 << 10); // the queues take 80 KB
    }

    @Test
    void nothingIsWrittenBeyondARange() throws IOException {
        NvmeFile range = (NvmeFile) new BlockRanges(controller, true, 1 << 20)
                .open(Path.of(DEVICE, "1", "100+8"), Set.of(FileOption.WRITE));
        assertThat(range.size()).isEqualTo(4096);
        queue.enqueue(write(0, range, 0, 8192));
        queue.enqueue(write(1, range, 4096, 512));
        turnUntil(queue, () -> requests.ended() == 2);
        assertThat(requests.result(0)).isEqualTo(4096);
        assertThat(requests.failure(1).orElseThrow().error().symbol()).isEqualTo("NVME_SC_LBA_RANGE");
    }

    @Test
    void filesAreNamedByTheControllerAndAreReadOnlyUnlessAsked() {
        BlockRanges files = new BlockRanges(controller, false, 1 << 20);
        assertThatExceptionOfType(NoSuchFileException.class)
                .isThrownBy(() -> files.open(Path.of("0000:00:05.0", "1"), Set.of(FileOption.READ)));
        assertThatExceptionOfType(AccessDeniedException.class)
                .isThrownBy(() -> files.open(Path.of(DEVICE, "1"), Set.of(FileOption.WRITE)))
                .withMessageContaining("penstock.nvme.write=true");
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> files.open(Path.of(DEVICE, "1", "32760+16"), Set.of(FileOption.READ)))
                .withMessageContaining("the namespace has 32768 blocks");
    }

    /** As a copy from the controller into a file needs it. */
    @Test
    void filesThatAreNotOnTheControllerAreOfTheOperatingSystem(@TempDir Path folder) throws IOException {
        Path path = folder.resolve("file");
        NativeFile ordinary =
                new BlockRanges(controller, false, 1 << 20).open(path, Set.of(FileOption.WRITE, FileOption.CREATE));
        memory.buffer(0, 8).putLong(0, 42);
        queue.enqueue(requests.next(0).file(Request.Kind.WRITE, ordinary, 0, 8).memory(memory, 0));
        turnUntil(queue, () -> requests.hasEnded(0));
        queue.enqueue(requests.next(1).sync(ordinary));
        queue.enqueue(requests.next(2).file(Request.Kind.READ, ordinary, 4, 8).memory(memory, 4096));
        turnUntil(queue, () -> requests.hasEnded(1) && requests.hasEnded(2));
        assertThat(requests.result(0)).isEqualTo(8);
        assertThat(requests.failure(2).orElseThrow().error().symbol()).isEqualTo("EBADF"); // opened for writing only
        assertThat(path).hasSize(8);
        ordinary.close();
    }
}
