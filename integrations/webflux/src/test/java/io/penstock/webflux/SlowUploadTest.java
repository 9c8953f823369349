// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.engine.stream.LiveLeases;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Uploads of clients that send less than a person on a slow line. */
class SlowUploadTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private VirtualTimeScheduler clock;

    @BeforeEach
    void stopTheClock() {
        clock = VirtualTimeScheduler.getOrSet();
    }

    @AfterEach
    void goOn() {
        VirtualTimeScheduler.reset();
    }

    private void pass(Duration time) {
        clock.advanceTimeBy(time);
    }

    private boolean comes(Pace pace, Duration after, int bytes) {
        pace.waits();
        pass(after);
        boolean slow = pace.isTooSlow();
        pace.came(bytes);
        return !slow && !pace.isTooSlow();
    }

    @Test
    void silenceForThePatienceIsTooSlowAndNotAMomentBefore() {
        Pace pace = new Pace(PATIENCE);
        pace.waits();
        pass(PATIENCE);
        assertThat(pace.isTooSlow()).isFalse();
        pass(Duration.ofMillis(1));
        assertThat(pace.isTooSlow()).isTrue();
    }

    @Test
    void aSlowLineIsNotTooSlow() {
        Pace pace = new Pace(PATIENCE);
        for (int i = 0; i < 1000; i++) {
            assertThat(comes(pace, Duration.ofSeconds(20), 24_000)).isTrue();
        }
    }

    @Test
    void aByteNowAndThenIsTooSlowWhateverCameBefore() {
        Pace pace = new Pace(PATIENCE);
        assertThat(comes(pace, Duration.ZERO, Integer.MAX_VALUE)).isTrue();
        int bytes = 0;
        while (comes(pace, Duration.ofSeconds(1), 1)) {
            bytes++;
        }
        assertThat(bytes).isEqualTo(30);
    }

    @Test
    void onlyTheTimeInWhichBytesAreWaitedForCounts() {
        Pace pace = new Pace(PATIENCE);
        pass(Duration.ofHours(1)); // the disk is slow
        assertThat(comes(pace, Duration.ofSeconds(29), 1)).isTrue();
        pass(Duration.ofHours(1));
        assertThat(pace.isTooSlow()).isFalse();
    }

    @Test
    void anUploadThatStopsIsAnsweredAndLeavesNothing(@TempDir Path folder) throws IOException {
        VirtualTimeScheduler.reset();
        Path old = Files.writeString(folder.resolve("file"), "old");
        try (Backend backend = Backends.open("host");
                TestServer server = new TestServer(new HttpFiles(backend).stallTimeout(Duration.ofMillis(40)), folder);
                Socket socket = new Socket("localhost", server.port())) {
            socket.setSoTimeout(20_000);
            String request = "PUT /file HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nsome";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            byte[] status = socket.getInputStream().readNBytes(12);
            assertThat(new String(status, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 408");
            assertThat(old).hasContent("old");
            assertThat(backend.counters().files()).isZero();
            try (Stream<Path> left = Files.list(folder)) {
                assertThat(left).containsExactly(old);
            }
        }
        LiveLeases.awaitNone();
    }

    @Test
    void withoutALimitAnUploadMayTakeAnyTime(@TempDir Path folder) {
        try (Backend backend = Backends.open("host")) {
            HttpFiles files = new HttpFiles(backend).stallTimeout(Duration.ZERO);
            Disposable upload =
                    files.receive(Flux.never(), folder.resolve("file")).subscribe();
            pass(Duration.ofDays(1));
            assertThat(upload.isDisposed()).isFalse();
            upload.dispose();
            assertThatThrownBy(() -> files.stallTimeout(Duration.ofMillis(-1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
