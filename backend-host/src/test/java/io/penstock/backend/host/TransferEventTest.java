// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transfers in a recording of JDK Flight Recorder. */
class TransferEventTest {

    private static final String EVENT = "io.penstock.Transfer";

    @TempDir
    Path folder;

    private List<RecordedEvent> record(Recording recording) throws IOException {
        Path path = Files.write(folder.resolve("data"), new byte[5000]);
        Path events = folder.resolve("events.jfr");
        try (recording;
                Backend backend = Backends.open("host")) {
            recording.start();
            backend.withFile(
                            path,
                            FileOption.READ,
                            file -> backend.withBuffer(
                                    5000, buffer -> backend.submit(Transfer.read(file.all(), buffer.all()))))
                    .block();
            recording.dump(events);
        }
        return RecordingFile.readAllEvents(events).stream()
                .filter(event -> event.getEventType().getName().equals(EVENT))
                .toList();
    }

    @Test
    void aTransferIsRecordedWithItsPathBytesAndOutcome() throws IOException {
        // The first event of a process begins late: its class is loaded between the subscription and its beginning.
        assertThat(record(enabled())).hasSize(1);
        assertThat(record(enabled())).singleElement().satisfies(event -> {
            assertThat(event.getString("backend")).isEqualTo("host");
            assertThat(event.getString("transfer")).contains("data");
            assertThat(event.getString("path")).isEqualTo("HOST");
            assertThat(event.getString("outcome")).isEqualTo("OK");
            assertThat(event.getLong("bytes")).isEqualTo(5000);
            assertThat(event.getLong("waited")).isPositive();
            assertThat(event.getDuration().toNanos()).isGreaterThanOrEqualTo(event.getLong("waited"));
        });
    }

    private static Recording enabled() {
        Recording recording = new Recording();
        recording.enable(EVENT).withoutThreshold();
        return recording;
    }

    @Test
    void nothingIsRecordedUnlessItIsEnabled() throws IOException {
        assertThat(record(new Recording())).isEmpty();
    }
}
