// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.formats.ArrayFile;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

/** Files whose metadata are read at a time. */
class HeadersTest {

    private static ArrayFile file(int number) {
        return new ArrayFile(Path.of(String.valueOf(number)), "test", Map.of(), List.of());
    }

    private static List<Callable<ArrayFile>> files(int count) {
        return IntStream.range(0, count)
                .<Callable<ArrayFile>>mapToObj(number -> () -> file(number))
                .toList();
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    }

    private static void assertInOrder(List<ArrayFile> files, int count) {
        assertThat(files.stream().map(file -> file.path().toString()))
                .isEqualTo(IntStream.range(0, count).mapToObj(String::valueOf).toList());
    }

    @Test
    void someAreReadAheadAndAllComeInTheirOrder() throws IOException {
        CountDownLatch last = new CountDownLatch(1);
        List<Callable<ArrayFile>> calls = List.of(
                () -> {
                    await(last); // which is made meanwhile
                    return file(0);
                },
                () -> file(1),
                () -> {
                    last.countDown();
                    return file(2);
                });
        assertInOrder(Headers.read(calls), 3);
    }

    @Test
    void moreThanAreReadAtATimeComeInTheirOrder() throws IOException {
        assertInOrder(Headers.read(files(100)), 100);
    }

    @Test
    void theErrorIsTheErrorOfTheFirstThatFails() {
        CountDownLatch later = new CountDownLatch(1);
        List<Callable<ArrayFile>> calls = List.of(
                () -> file(0),
                () -> {
                    await(later);
                    throw new IOException("first");
                },
                () -> {
                    later.countDown();
                    throw new IOException("later");
                });
        assertThatThrownBy(() -> Headers.read(calls))
                .isInstanceOf(IOException.class)
                .hasMessage("first");
    }

    @Test
    void anErrorOfTheJvmIsPassedOn() {
        OutOfMemoryError error = new OutOfMemoryError("of a test");
        assertThatThrownBy(() -> Headers.read(List.of(() -> {
                    throw error;
                })))
                .isSameAs(error);
    }

    @Test
    void anInterruptEndsAllCalls() throws Exception {
        CountDownLatch begun = new CountDownLatch(3);
        CountDownLatch interrupted = new CountDownLatch(3);
        Callable<ArrayFile> call = () -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
                throw new AssertionError();
            } catch (InterruptedException e) {
                interrupted.countDown();
                throw e;
            }
        };
        FutureTask<Boolean> reading = new FutureTask<>(() -> {
            assertThatThrownBy(() -> Headers.read(List.of(call, call, call)))
                    .isInstanceOf(ClosedByInterruptException.class);
            return Thread.currentThread().isInterrupted();
        });
        Thread thread = new Thread(reading);
        thread.start();
        await(begun);
        thread.interrupt();
        assertThat(reading.get(60, TimeUnit.SECONDS)).isTrue();
        await(interrupted);
    }

    /** Each thread of the scheduler may be a caller that waits. */
    @Test
    void noThreadIsNeededBesideTheCaller() throws IOException {
        assertInOrder(Headers.read(files(9), Schedulers.fromExecutor(task -> {})), 9);
        assertInOrder(
                Headers.read(files(9), Schedulers.fromExecutor(task -> {
                    throw new RejectedExecutionException();
                })),
                9);
    }
}
