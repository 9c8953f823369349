// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class LeakProbeTest {

    @TempDir
    Path folder;

    private final AtomicLong pins = new AtomicLong();

    private LeakProbe probe() {
        return new LeakProbe(new NoBackend(folder) {
            @Override
            public Map<String, Long> live() {
                return Map.of("pins", pins.get());
            }
        });
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "this system does not list its open files")
    void anOpenFileIsALeakUntilItIsClosed() throws IOException {
        LeakProbe probe = probe();
        Map<String, Long> before = probe.count();
        Path path = folder.resolve("open");
        try (FileChannel open = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            assertThat(open.isOpen()).isTrue();
            assertThatThrownBy(() -> probe.awaitNoMoreThan(before, Duration.ZERO))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining(path.toString());
        }
        assertThatCode(() -> probe.awaitNoMoreThan(before, Duration.ZERO)).doesNotThrowAnyException();
    }

    @Test
    void aThreadOfPenstockIsALeakUntilItEnds() throws InterruptedException {
        LeakProbe probe = probe();
        Map<String, Long> before = probe.count();
        CountDownLatch end = new CountDownLatch(1);
        Thread thread = new Thread(
                () -> {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "penstock-forgotten");
        thread.start();
        assertThatThrownBy(() -> probe.awaitNoMoreThan(before, Duration.ZERO))
                .hasMessageContaining("penstock-forgotten");
        end.countDown();
        thread.join();
        probe.awaitNoMoreThan(before, Bench.PATIENCE);
    }

    @Test
    void theBackendsOwnCountsAreCheckedAndMayDecrease() {
        LeakProbe probe = probe();
        pins.set(3);
        Map<String, Long> before = probe.count();
        pins.set(1);
        probe.awaitNoMoreThan(before, Duration.ZERO);
        pins.set(4);
        assertThatThrownBy(() -> probe.awaitNoMoreThan(before, Duration.ZERO)).hasMessageContaining("pins=1");
    }
}
