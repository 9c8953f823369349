// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The events of JDK Flight Recorder, in recordings. */
class FlightRecordingTest {

    private static final String TRANSFER = "io.penstock.Transfer";
    private static final String STAGE = "io.penstock.Stage";
    private static final String COUNTERS = "io.penstock.Counters";
    private static final int SIZE = 5000;

    @TempDir
    Path folder;

    private Path path;

    @BeforeEach
    void makeFile() throws IOException {
        path = Files.write(folder.resolve("data"), new byte[SIZE]);
    }

    private void read(Backend backend) {
        backend.withFile(
                        path,
                        FileOption.READ,
                        file -> backend.withBuffer(
                                SIZE, buffer -> backend.submit(Transfer.read(file.all(), buffer.all()))))
                .block();
    }

    /** Returns the events of a kind that a recording has got by the read of a backend, which is closed. */
    private List<RecordedEvent> record(Recording recording, String kind, Backend backend) throws IOException {
        Path events = folder.resolve("events.jfr");
        try (recording;
                backend) {
            recording.start();
            read(backend);
            recording.dump(events);
        }
        return RecordingFile.readAllEvents(events).stream()
                .filter(event -> event.getEventType().getName().equals(kind))
                .toList();
    }

    private static Recording of(String kind) {
        Recording recording = new Recording();
        recording.enable(kind).withoutThreshold();
        return recording;
    }

    private static Backend staged() {
        return Backends.open("card-many");
    }

    @Test
    void aTransferIsRecordedWithItsPathBytesAndOutcome() throws IOException {
        // The first event of a process begins late: its class is loaded between the subscription and its beginning.
        assertThat(record(of(TRANSFER), TRANSFER, Backends.open("host"))).hasSize(1);
        assertThat(record(of(TRANSFER), TRANSFER, Backends.open("host")))
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.getString("backend")).isEqualTo("host");
                    assertThat(event.getString("transfer")).contains("data");
                    assertThat(event.getString("path")).isEqualTo("HOST");
                    assertThat(event.getString("outcome")).isEqualTo("OK");
                    assertThat(event.getLong("bytes")).isEqualTo(SIZE);
                    assertThat(event.getLong("waited")).isPositive();
                    assertThat(event.getDuration().toNanos()).isGreaterThanOrEqualTo(event.getLong("waited"));
                });
    }

    @Test
    void theStagesOfAStagedTransferAreRecordedInTheirOrder() throws IOException {
        assertThat(record(of(STAGE), STAGE, staged()))
                .extracting(
                        event -> event.getString("stage"),
                        event -> event.getLong("bytes"),
                        event -> event.getString("failure"))
                .containsExactly(tuple("FILL", (long) SIZE, null), tuple("COPY", (long) SIZE, null));
    }

    @Test
    void countersOfOpenBackendsAreRecordedPeriodicallyUntilTheyAreClosed() throws Exception {
        Set<String> complete = ConcurrentHashMap.newKeySet();
        Map<String, Instant> last = new ConcurrentHashMap<>();
        try (RecordingStream recording = new RecordingStream();
                Backend staged = staged()) { // opened before the recording starts, the other one after that
            recording.enable(COUNTERS).withPeriod(Duration.ofMillis(10));
            recording.onEvent(COUNTERS, event -> {
                String backend = event.getString("backend");
                last.put(backend, event.getStartTime());
                if (event.getInt("stagingBuffers") > 0
                        && event.getInt("files") == (backend.equals("card-one") ? 1 : 0)) {
                    complete.add(backend);
                }
            });
            recording.startAsync();
            Backend other = Backends.open("card-one");
            other.openFile(path, FileOption.READ).block();
            await(() -> complete.containsAll(List.of("card-one", staged.name())));
            other.close();
            Instant closed = Instant.now();
            await(() -> last.get(staged.name()).isAfter(closed));
            assertThat(last.get("card-one")).as("of the backend that is closed").isBeforeOrEqualTo(closed);
        }
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            Thread.sleep(10); // the time limit of tests interrupts it
        }
    }

    @Test
    void nothingIsRecordedUnlessItIsEnabled() throws IOException {
        assertThat(record(new Recording(), TRANSFER, Backends.open("host"))).isEmpty();
        for (String kind : List.of(TRANSFER, STAGE, COUNTERS)) {
            assertThat(record(new Recording(), kind, staged())).isEmpty();
        }
    }
}
