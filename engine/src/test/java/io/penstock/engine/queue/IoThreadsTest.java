// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class IoThreadsTest {

    private static final Options POLLING = Options.none().with(CommonOptions.POLL_MICROS, 200);

    @Test
    void backendsShareQueuesOnlyWhereTheirOptionsAreTheSame() {
        FakeDevice device = new FakeDevice(Limits.none(1 << 20));
        IoQueues first = IoThreads.acquire(device, Options.none());
        IoQueues second = IoThreads.acquire(device, Options.none());
        IoQueues narrow = IoThreads.acquire(device, Options.none().with(CommonOptions.QUEUE_BYTES, 1L << 20));
        assertThat(second).isSameAs(first);
        assertThat(narrow).isNotSameAs(first);
        IoQueues other = IoThreads.acquire(device, Options.none().with("penstock.some.option", "1"));
        assertThat(other)
                .as("by any option, also one that the engine does not read")
                .isNotSameAs(first);
        other.release().join();
        first.release().join();
        second.release().join();
        narrow.release().join();
        IoQueues later = IoThreads.acquire(device, Options.none());
        assertThat(later).as("after the last has left").isNotSameAs(first);
        later.release().join();
    }

    @Test
    void queuesThatAreOpenAreClosedWhereAFurtherOneCannotBeOpened() {
        FakeDevice device = new FakeDevice(Limits.none(1 << 20));
        device.ioQueues = 2;
        device.queueRefusal = new OutOfMemoryError("no memory for a second queue");
        assertThatThrownBy(() -> IoThreads.acquire(device, Options.none())).isInstanceOf(OutOfMemoryError.class);
        assertThat(device.queue.closed).isTrue();
    }

    /** One that is idle sleeps, and takes long to wake. */
    @Test
    void aQueueThatKeepsUpIsPickedAgain() {
        FakeDevice device = new FakeDevice(Limits.none(1 << 20));
        device.ioQueues = 2;
        IoQueues ioQueues = IoThreads.acquire(device, POLLING);
        Set<IoQueue> picked = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            picked.add(ioQueues.pick());
        }
        assertThat(picked).hasSize(1);
        ioQueues.release().join();
    }

    @Test
    void afterABatchForAQueueThatIsBehindTheNextIsPicked() {
        FakeDevice device = new FakeDevice(Limits.none(1 << 20));
        device.ioQueues = 2;
        IoQueues ioQueues = IoThreads.acquire(device, POLLING);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        IoQueue first = ioQueues.pick();
        first.post(() -> {
            begun.countDown();
            awaitHere(end);
        });
        awaitHere(begun);
        first.post(() -> {}); // arrives while the thread is busy
        List<IoQueue> picked =
                Stream.generate(ioQueues::pick).limit(17).distinct().toList();
        assertThat(picked).hasSize(2).first().isSameAs(first);
        end.countDown();
        ioQueues.release().join();
    }

    /** Idle ones have to be woken whichever it is, and two share the work. */
    @Test
    void withoutPollingQueuesTakeTurns() {
        FakeDevice device = new FakeDevice(Limits.none(1 << 20));
        device.ioQueues = 2;
        IoQueues ioQueues = IoThreads.acquire(device, Options.none().with(CommonOptions.POLL_MICROS, 0));
        assertThat(Stream.generate(ioQueues::pick).limit(17).distinct()).hasSize(2);
        ioQueues.release().join();
    }

    private static void awaitHere(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Such as a shutdown hook of an application that saves its state: {@code main} is its process. */
    @Test
    void aProcessThatExitsCanStillOpenQueues() throws IOException, InterruptedException {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        IoThreadsTest.class.getName())
                .redirectErrorStream(true)
                .start();
        String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor()).as(said).isZero();
        assertThat(said).contains("opened and closed");
    }

    public static void main(String[] args) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            IoQueues ioQueues = IoThreads.acquire(new FakeDevice(Limits.none(1 << 20)), Options.none());
            ioQueues.release().join();
            System.out.println("opened and closed");
        }));
    }
}
