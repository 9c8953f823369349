// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.engine.host.kernel.LinuxKernel;
import io.penstock.engine.host.queue.QueueFixture.Completed;
import io.penstock.engine.host.uring.RingProbe;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What both queues of host I/O promise. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostQueueTest {

    @TempDir
    Path directory;

    /** Makes a queue in one of the two ways. */
    private record Variant(String name, boolean rings) {

        QueueFixture open(Path directory) throws IOException {
            return rings ? QueueFixture.uring(directory, LinuxKernel.INSTANCE) : QueueFixture.channel(directory);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Variant> variants() {
        Variant pool = new Variant("pool", false);
        return RingProbe.probe(LinuxKernel.INSTANCE).isAvailable()
                ? Stream.of(pool, new Variant("uring", true))
                : Stream.of(pool);
    }

    @ParameterizedTest
    @MethodSource("variants")
    void movesBytesBothWaysAndSyncs(Variant variant) throws IOException {
        try (QueueFixture f = variant.open(directory)) {
            f.read(3, 4096, 100, 5000);
            assertThat(f.completed).as("enqueue does not complete").isEmpty();
            f.await(1);
            f.write(3, 0, 100, 5000);
            f.await(2);
            f.sync(0);
            f.await(3);
            assertThat(f.completed)
                    .containsExactly(new Completed(3, 5000), new Completed(3, 5000), new Completed(0, 0));
            assertThat(f.bytes(100, 5000)).isEqualTo(Arrays.copyOfRange(f.content, 4096, 9096));
            assertThat(Files.readAllBytes(f.file.path())).startsWith(Arrays.copyOfRange(f.content, 4096, 9096));
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void requestsCostTheQueueNoAllocation(Variant variant) throws IOException {
        assumeTrue(ModuleLayer.boot().findModule("jdk.management").isPresent(), "this Java runtime counts no bytes");
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        int[] ended = {0};
        Request request = new Request(0, (which, bytes, failure) -> ended[0]++);
        try (QueueFixture f = variant.open(directory)) {
            long before = 0;
            while (ended[0] < 20_000) {
                if (ended[0] == 10_000) {
                    before = threads.getCurrentThreadAllocatedBytes();
                }
                f.queue.enqueue(request.file(Request.Kind.READ, f.file, 0, 512).memory(f.memory, 0));
                for (int until = ended[0] + 1; ended[0] < until; ) {
                    f.queue.turn(-1);
                }
            }
            assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(64 << 10);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void copiesWithinMemory(Variant variant) throws IOException {
        try (QueueFixture f = variant.open(directory)) {
            f.bounce.buffer(10, 4).putInt(0x01020304);
            f.copy(1, Request.Kind.COPY_IN, 10, 77, 4);
            f.turn(0);
            f.copy(2, Request.Kind.COPY_OUT, 1000, 77, 4);
            assertThat(f.completed).containsExactly(new Completed(1, 4));
            f.turn(-1);
            assertThat(f.completed).endsWith(new Completed(2, 4));
            assertThat(f.bounce.buffer(1000, 4).getInt()).isEqualTo(0x01020304);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void countsAreShortAtTheEndOfTheFileOnly(Variant variant) throws IOException {
        try (QueueFixture f = variant.open(directory)) {
            f.read(0, QueueFixture.FILE_BYTES - 7, 0, 4096);
            f.await(1);
            f.read(0, QueueFixture.FILE_BYTES + 7, 0, 4096);
            f.await(2);
            assertThat(f.completed).containsExactly(new Completed(0, 7), new Completed(0, 0));
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void manyCommandsEachEndOnceWithTheirOwnBytes(Variant variant) throws IOException {
        Random random = new Random(42);
        int total = 3000;
        try (QueueFixture f = variant.open(directory)) {
            int slice = QueueFixture.FILE_BYTES / QueueFixture.DEPTH;
            long[] offsets = new long[QueueFixture.DEPTH];
            int[] lengths = new int[QueueFixture.DEPTH];
            ArrayDeque<Integer> free =
                    new ArrayDeque<>(Stream.iterate(0, id -> id + 1).limit(8).toList());
            for (int begun = 0; begun < total || free.size() < QueueFixture.DEPTH; ) {
                while (begun < total && !free.isEmpty()) {
                    int id = free.poll();
                    offsets[id] = random.nextInt(QueueFixture.FILE_BYTES / 2);
                    lengths[id] = 1 + random.nextInt(random.nextInt(10) == 0 ? slice : 8192);
                    f.read(id, offsets[id], (long) id * slice, lengths[id]);
                    begun++;
                }
                f.turn(-1);
                for (Completed completed : f.completed) {
                    int id = completed.id();
                    assertThat(free).doesNotContain(id);
                    assertThat(completed.result()).isEqualTo(lengths[id]);
                    int from = (int) offsets[id];
                    assertThat(f.bytes((long) id * slice, lengths[id]))
                            .isEqualTo(Arrays.copyOfRange(f.content, from, from + lengths[id]));
                    free.add(id);
                }
                f.completed.clear();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aFailureNamesItsCallAndOtherCommandsGoOn(Variant variant) throws IOException {
        try (QueueFixture f = variant.open(directory)) {
            f.read(0, -4096, 0, 4096);
            f.read(1, 0, 0, 4096);
            f.await(2);
            assertThat(f.completed).contains(new Completed(1, 4096));
            assertThat(f.failures).containsOnlyKeys(0);
            NativeFailure failure = f.failures.get(0);
            assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.PERMANENT);
            assertThat(failure.error().call()).isIn("IORING_OP_READ", "FileChannel.read");
            assertThat(failure.error().symbol()).isNotEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aWakeEndsAWaitAndOneBeforehandPreventsIt(Variant variant) throws Exception {
        try (QueueFixture f = variant.open(directory)) {
            for (int i = 0; i < 200; i++) {
                f.queue.wakeup().wake();
                f.queue.wakeup().wake();
                f.turn(-1);
                CompletableFuture<Void> waker = CompletableFuture.runAsync(f.queue.wakeup()::wake);
                f.turn(-1); // hangs if a wake is lost, whether it comes before or during the wait
                waker.get();
                f.turn(0);
            }
            assertThat(f.completed).isEmpty();
        }
    }

    @Test
    void anInterruptionDoesNotMakeAQueueOfThreadsSpin() throws Exception {
        try (QueueFixture f = QueueFixture.channel(directory)) {
            boolean[] interrupted = {false};
            Thread ioQueue = new Thread(() -> {
                Thread.currentThread().interrupt();
                f.turn(-1);
                interrupted[0] = Thread.currentThread().isInterrupted();
            });
            ioQueue.start();
            while (ioQueue.getState() != Thread.State.WAITING) { // never, if it spins: the class has a time limit
                Thread.onSpinWait();
            }
            f.queue.wakeup().wake();
            ioQueue.join();
            assertThat(interrupted[0]).as("the flag is the thread's own").isTrue();
        }
    }

    /** The queue is a new one, so that no wake of an earlier command can end the wait. */
    @Test
    void theQueueIsWokenAfterTheCommandsEndIsVisible() throws IOException {
        try (QueueFixture f = QueueFixture.channel(directory)) {
            f.read(0, 0, 0, 4096);
            f.turn(-1);
            assertThat(f.completed).containsExactly(new Completed(0, 4096));
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aBoundedWaitIsBounded(Variant variant) throws IOException {
        try (QueueFixture f = variant.open(directory)) {
            long begin = System.nanoTime();
            f.turn(10_000_000);
            assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(10_000_000);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aCancelledCommandStillEndsOnce(Variant variant) throws IOException {
        try (QueueFixture f = variant.open(directory)) {
            for (int round = 0; round < 200; round++) {
                for (int id = 0; id < QueueFixture.DEPTH; id++) {
                    f.read(id, 0, (long) id << 17, 100_000);
                }
                f.cancel(7);
                f.cancel(7);
                f.cancel(1);
                f.await(QueueFixture.DEPTH);
                assertThat(f.completed).extracting(Completed::id).containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5, 6, 7);
                for (Completed completed : f.completed) {
                    assertThat(completed.result() == 100_000 || isCancelled(f, completed))
                            .isTrue();
                }
                f.completed.clear();
                f.cancel(3); // an unused id now
            }
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aCloseAfterAWaitReturnsAndASecondOneDoesNothing(Variant variant) throws IOException {
        try (QueueFixture f = variant.open(directory)) {
            f.read(0, 0, 0, 4096);
            f.await(1);
            f.turn(1_000_000);
            f.queue.close();
            f.queue.wakeup().wake();
        }
    }

    private static boolean isCancelled(QueueFixture f, Completed completed) {
        return completed.result() < 0 && f.failures.get(completed.id()).kind() == NativeFailure.Kind.CANCELLED;
    }
}
