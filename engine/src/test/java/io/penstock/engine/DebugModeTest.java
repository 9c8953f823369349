// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.spi.Limits;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/** What {@code penstock.debug} makes loud, beside poison and leaks. */
class DebugModeTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("model.bin");

    private final ByteArrayOutputStream log = new ByteArrayOutputStream();
    private final PrintStream before = System.err;
    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));
    private Backend backend;

    @BeforeEach
    void open() {
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        backend = open(Options.none().with(CommonOptions.DEBUG, true));
        device.files.put(PATH, device.new MemoryFile(new byte[1000]));
    }

    @AfterEach
    void close() {
        backend.close();
        System.setErr(before);
    }

    private Backend open(Options options) {
        return Engine.open("fake", device, List.of(device), options.resolve(CommonOptions.all()));
    }

    private Transfer read(Backend from, boolean closesFile) {
        StorageFile file = from.openFile(PATH, FileOption.READ).block(LONG);
        DeviceBuffer buffer = from.allocate(1000).block(LONG);
        Transfer read = Transfer.read(file.all(), buffer.all());
        if (closesFile) {
            file.close();
        } else {
            buffer.close();
        }
        return read;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aTransferThatCameTooLateNamesWhereItsFileOrBufferWasClosed(boolean closesFile) {
        Transfer late = read(backend, closesFile);
        assertThatThrownBy(() -> backend.submit(late).block(LONG))
                .isInstanceOf(ClosedException.class)
                .hasMessageContaining("its file or buffer is closed")
                .cause()
                .hasMessageMatching(
                        (closesFile ? "model.bin" : "buffer of 1000 bytes on fake") + " was closed here, on .+")
                .satisfies(place -> assertThat(place.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(DebugModeTest.class.getName())));
    }

    @Test
    void withoutItNothingIsKeptOfACloser() {
        try (Backend other = open(Options.none())) {
            Transfer late = read(other, true);
            assertThatThrownBy(() -> other.submit(late).block(LONG))
                    .isInstanceOf(ClosedException.class)
                    .hasNoCause();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1000}) // with the other scheduler
    void aCallbackThatBlocksIsReportedWithItsPlace(int pollMicros) {
        Options options = Options.none().with(CommonOptions.DEBUG, true).with(CommonOptions.POLL_MICROS, pollMicros);
        try (Backend debugged = open(options)) {
            debugged.withFile(
                            PATH,
                            FileOption.READ,
                            file -> debugged.withBuffer(
                                    1000,
                                    buffer -> debugged.submit(Transfer.read(file.all(), buffer.all()))
                                            .doOnNext(done -> blockUntilItIsReported())))
                    .block();
        }
        assertThat(log.toString(StandardCharsets.UTF_8))
                .contains("WARN", "a callback has kept ", "penstock.delivery=elastic permits it")
                .contains("DebugModeTest.blockUntilItIsReported");
    }

    @Test
    void theFirstCloseIsNamedNotALaterOne() {
        StorageFile file = backend.openFile(PATH, FileOption.READ).block(LONG);
        DeviceBuffer buffer = backend.allocate(1000).block(LONG);
        file.close();
        closeAgain(file);
        assertThatThrownBy(() ->
                        backend.submit(Transfer.read(file.all(), buffer.all())).block(LONG))
                .cause()
                .satisfies(place -> assertThat(place.getStackTrace())
                        .noneMatch(frame -> frame.getMethodName().equals("closeAgain")));
        buffer.close();
    }

    private static void closeAgain(StorageFile file) {
        file.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"elastic", "parallel"})
    void threadsThatMayBlockAreNotWatched(String delivery) {
        Options options = Options.none().with("penstock.debug", "true").with("penstock.delivery", delivery);
        DeliveryThreads threads = new DeliveryThreads(options.resolve(CommonOptions.all()));
        for (Scheduler scheduler : List.of(threads.scheduler(), threads.batchScheduler())) {
            assertThat(scheduler instanceof WatchedScheduler).isEqualTo(delivery.equals("parallel"));
        }
        threads.stop();
    }

    @Test
    void aCallbackThatHasReturnedIsNotReported() {
        VirtualTimeScheduler clock = VirtualTimeScheduler.create();
        Duration patience = WatchedScheduler.PATIENCE;
        WatchedScheduler watched = new WatchedScheduler(Schedulers.immediate(), clock);
        Scheduler.Worker worker = watched.createWorker();
        List<String> ran = new ArrayList<>();
        watched.schedule(() -> ran.add("scheduled"));
        worker.schedule(() -> ran.add("by a worker"));
        worker.schedule(() -> clock.advanceTimeBy(patience.minusMillis(1)));
        clock.advanceTimeBy(patience.multipliedBy(2));
        assertThat(ran).containsExactly("scheduled", "by a worker");
        assertThat(log.toString(StandardCharsets.UTF_8)).doesNotContain("a callback");
        worker.schedule(() -> clock.advanceTimeBy(patience));
        assertThat(log.toString(StandardCharsets.UTF_8)).contains("a callback has kept");
        worker.dispose();
        assertThat(worker.isDisposed()).isTrue();
    }

    private void blockUntilItIsReported() {
        while (!log.toString(StandardCharsets.UTF_8).contains("blockUntilItIsReported")) {
            assertThat(Thread.interrupted()).as("waited in vain").isFalse(); // by the time limit of tests
            Thread.onSpinWait();
        }
    }
}
