// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.backend.nvme.path.QemuProvider;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

/** Queue pairs of a controller that reads shadow doorbells all the time, or has none. */
class EmulatedControllerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int COMMANDS = 400;
    private static final int SPAN = 128;
    private static final int BYTES = 4096;

    private EmulatedController emulated;
    private Controller controller;

    @BeforeEach
    void require() {
        Submitter.require();
    }

    @AfterEach
    void end() throws IOException {
        if (emulated == null) {
            return;
        }
        try {
            if (controller != null) {
                controller.leave();
            }
            assertThat(emulated.live()).as("memory for DMA").isZero();
        } finally {
            emulated.end();
        }
    }

    @Test
    void aControllerThatDoesNotStartLeavesNoFile() {
        assertThatIOException()
                .isThrownBy(() -> new EmulatedController(Path.of("/bin/echo"))) // prints the file's name
                .satisfies(e -> assertThat(Path.of(e.getMessage().replaceAll(".*: | 64$", "")))
                        .isAbsolute()
                        .doesNotExist());
    }

    @ParameterizedTest
    @CsvSource({"shadow, true, 0", "noshadow, false, 200"})
    void twoPairsAreServedAtATime(String option, boolean isShadow, long leastWrites) throws IOException {
        emulated = new EmulatedController(Submitter.program("controller"), option);
        controller = Controller.open(option, () -> emulated, PATIENCE);
        DmaMemory data = emulated.allocate(SPAN * BYTES);
        ByteBuffer bytes = data.buffer(0, SPAN * BYTES);
        byte[] written = new byte[SPAN * BYTES];
        new Random(20).nextBytes(written);
        bytes.put(0, written);
        for (String write : List.of("write=1", "write=0")) {
            QueuePairHandle one = QueuePairHandle.open(controller::join, 4, 0).block(PATIENCE);
            QueuePairHandle two = QueuePairHandle.open(controller::join, 32, 0).block(PATIENCE);
            assertThat(one.isShadow()).isEqualTo(isShadow);
            assertThat(one.registerOffset()).isEqualTo(0x1000 + 8 * one.id());
            long before = emulated.doorbellWrites();
            submit(one, two, Submitter.argument(one), Submitter.argument(two), "data=" + data.busAddress(), write);
            assertThat(emulated.doorbellWrites() - before).isGreaterThanOrEqualTo(leastWrites);
            Stream.of(one, two).forEach(QueuePairHandle::close);
            one.released().and(two.released()).block(PATIENCE);
            if (write.equals("write=1")) {
                bytes.put(0, new byte[written.length]);
            }
        }
        byte[] found = new byte[written.length];
        bytes.get(0, found);
        assertThat(found).isEqualTo(written);
        data.free();
    }

    /** The controller refuses PRPs that are not aligned, and descriptors of another length than the command. */
    @ParameterizedTest
    @ValueSource(strings = {"sgl", "prp"})
    void transfersReachMemoryAtAnyAddress(String option) throws IOException {
        emulated = new EmulatedController(Submitter.program("controller"), option);
        byte[] written = new byte[1 << 20];
        new Random(21).nextBytes(written);
        try (Backend backend = QemuProvider.open("0000:00:05.0", () -> emulated);
                StorageFile file = backend.openFile(Path.of("0000:00:05.0", "1"), FileOption.READ, FileOption.WRITE)
                        .block(PATIENCE);
                DeviceBuffer memory = backend.allocate(2L * written.length).block(PATIENCE)) {
            for (int bytes = 512; bytes <= written.length; bytes *= 8) {
                for (int at : new int[] {0, 1, 514, 4093}) {
                    memory.upload(at, ByteBuffer.wrap(written, 0, bytes)).block(PATIENCE);
                    backend.submit(Transfer.write(memory.region(at, bytes), file.region(8192, bytes)))
                            .block(PATIENCE);
                    memory.upload(at, ByteBuffer.allocate(bytes)).block(PATIENCE);
                    backend.submit(Transfer.read(file.region(8192, bytes), memory.region(at, bytes)))
                            .block(PATIENCE);
                    ByteBuffer found = ByteBuffer.allocate(bytes);
                    memory.download(at, found).block(PATIENCE);
                    assertThat(found.flip().limit(bytes).mismatch(ByteBuffer.wrap(written, 0, bytes)))
                            .as("%d bytes at %d", bytes, at)
                            .isNegative();
                }
            }
        }
    }

    /** As at a limit of processes, and as by any other cause. */
    @ParameterizedTest
    @ValueSource(strings = {"shadow", "noshadow"})
    void anOpeningWithoutAThreadFailsAndLeavesNothing(String option) throws IOException {
        emulated = new EmulatedController(Submitter.program("controller"), option);
        controller = Controller.open("thread", () -> emulated, PATIENCE);
        long live = emulated.live();
        assertThatExceptionOfType(TransientStorageException.class)
                .isThrownBy(() -> openWithout(new OutOfMemoryError("no thread")))
                .withMessageContaining("no thread");
        assertThat(emulated.live()).as("memory for DMA").isEqualTo(live);
        assertThatIllegalStateException()
                .isThrownBy(() -> openWithout(new IllegalStateException("a bug")))
                .withMessage("a bug");
        assertThat(emulated.live()).as("memory for DMA").isEqualTo(live);
        QueuePairHandle next = QueuePairHandle.open(controller::join, 4, 0).block(PATIENCE);
        assertThat(next.id()).as("the only one").isOne();
        next.close();
        next.released().block(PATIENCE);
    }

    private void openWithout(Throwable refusal) {
        QueuePairHandle.open(controller::join, 4, 0, task -> new RefusedThread(refusal))
                .block(PATIENCE);
    }

    /** A thread that does not start. */
    private static final class RefusedThread extends Thread {

        private final Throwable refusal;

        RefusedThread(Throwable refusal) {
            this.refusal = refusal;
        }

        @Override
        public synchronized void start() {
            if (refusal instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) refusal;
        }
    }

    /** As by a GPU that has BAR0 in its address space. */
    @Test
    void aSubmitterThatReachesTheRegistersRingsThemItself() throws IOException {
        emulated = new EmulatedController(Submitter.program("controller"), "noshadow");
        controller = Controller.open("registers", () -> emulated, PATIENCE);
        DmaMemory data = emulated.allocate(SPAN * BYTES);
        QueuePairHandle one = QueuePairHandle.open(controller::join, 4, 0).block(PATIENCE);
        QueuePairHandle two = QueuePairHandle.open(controller::join, 4, 0).block(PATIENCE);
        submit(
                one,
                two,
                Submitter.argument(one, one.registerOffset()), // BAR0 is the start of the file
                Submitter.argument(two, two.registerOffset()),
                "data=" + data.busAddress());
        for (QueuePairHandle each : List.of(one, two)) {
            assertThat(NativeMemory.view(each.doorbell().address(), 4).getInt(0))
                    .isZero();
            each.close();
            each.released().block(PATIENCE);
        }
        assertThat(controller.generation()).isZero();
        data.free();
    }

    /** As on a machine with a GPU, with threads in place of the kernel. */
    @Test
    void theLatencyFromEntryToSignalIsMeasured() throws IOException {
        emulated = new EmulatedController(Submitter.program("controller"));
        controller = Controller.open("latency", () -> emulated, PATIENCE);
        DoorbellLatency latency = new DoorbellLatency(emulated, controller, Submitter.program("submitter"));
        DoorbellLatency.Figures figures = latency.measure(2, 4, 200);
        assertThat(figures.toSignal()).hasSize(400).isSorted();
        assertThat(figures.toSignal()[0]).isBetween(1L, figures.toPoll()[399] + 1_000_000_000);
        assertThat(figures.toPoll()[0]).isPositive();
        latency.close();
    }

    private void submit(QueuePairHandle one, QueuePairHandle two, String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("bytes=" + BYTES, "blocks=8", "span=" + SPAN, "count=" + COMMANDS, "depth=4"));
        try (Submitter submitter = Submitter.start(Submitter.program("submitter"), emulated.memoryFile(), all)) {
            assertThat(Flux.merge(
                                    one.completions().take(COMMANDS),
                                    two.completions().take(COMMANDS))
                            .filter(CommandCompletion::isSuccess)
                            .count()
                            .block(PATIENCE))
                    .isEqualTo(2 * COMMANDS);
            assertThat(submitter.line()).isEqualTo("completed " + 2 * COMMANDS + " errors 0 status 0");
        }
    }
}
