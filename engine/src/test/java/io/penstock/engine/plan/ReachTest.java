// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FailedCompletion;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.engine.Engine;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.FakeQueue.Taken;
import io.penstock.engine.queue.Finished;
import io.penstock.engine.queue.IoQueue;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.queue.Segment;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.Limits;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;

/** What counts as moved when segments of 4 KiB end out of order, and not all of them well. The queue holds eight. */
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a join is not interrupted
class ReachTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final int SEGMENT = 4096;
    private static final long EIO = -5;

    private final FakeDevice device = new FakeDevice(Limits.none(SEGMENT));
    private final Backend backend =
            Engine.open("fake", device, List.of(device), Options.none().resolve(CommonOptions.all()));
    private final StorageFile file = file();
    private final DeviceBuffer buffer =
            Objects.requireNonNull(backend.allocate(32 * SEGMENT).block(LONG));

    private StorageFile file() {
        Path path = Path.of("model.bin");
        device.files.put(path, device.new MemoryFile(new byte[32 * SEGMENT]));
        return Objects.requireNonNull(
                backend.openFile(path, FileOption.READ, FileOption.WRITE).block(LONG));
    }

    @AfterEach
    void close() {
        device.queue.releaseAll();
        backend.close();
    }

    private Transfer segments(int first, int count) {
        long offset = (long) first * SEGMENT;
        long length = (long) count * SEGMENT;
        return Transfer.read(file.region(offset, length), buffer.region(offset, length));
    }

    private CompletableFuture<Completion> start(Transfer transfer, int segments) {
        device.queue.hold = true;
        CompletableFuture<Completion> result = backend.submit(transfer).toFuture();
        awaitHeld(segments);
        return result;
    }

    private void awaitHeld(int count) {
        while (true) {
            synchronized (device.queue) {
                if (device.queue.held.size() == count) {
                    return;
                }
            }
            LockSupport.parkNanos(100_000);
        }
    }

    private void end(int segment, long result) {
        synchronized (device.queue) {
            device.queue.end(
                    device.queue.held.values().stream()
                            .filter(taken -> taken.fileOffset() / SEGMENT == segment)
                            .mapToInt(Taken::id)
                            .findFirst()
                            .orElseThrow(),
                    result);
        }
    }

    private static PenstockException failure(CompletableFuture<Completion> result) {
        return (PenstockException) result.handle(
                        (value, error) -> error instanceof CompletionException wrapped ? wrapped.getCause() : error)
                .join();
    }

    @Test
    void bytesMovedAfterAFailureDoNotCount() {
        CompletableFuture<Completion> read = start(segments(0, 6), 6);
        end(2, EIO);
        device.queue.releaseAll();
        PenstockException failure = failure(read);
        assertThat(failure.outcome()).isEqualTo(Outcome.PARTIAL);
        assertThat(failure.bytes()).isEqualTo(2 * SEGMENT).isEqualTo(failure.bytes(0));
    }

    @Test
    void segmentsThatWereNeverStartedDoNotCount() {
        Transfer transfer =
                segments(0, 8).and(file.region(16 * SEGMENT, 4 * SEGMENT), buffer.region(9 * SEGMENT, 4 * SEGMENT));
        CompletableFuture<Completion> read = start(transfer, 8);
        end(3, EIO);
        device.queue.releaseAll();
        PenstockException failure = failure(read);
        assertThat(failure.bytes(0)).isEqualTo(3 * SEGMENT);
        assertThat(failure.bytes(1)).isZero();
        assertThat(failure.bytes()).isEqualTo(3 * SEGMENT);
    }

    @Test
    void aPairBehindAFailedOneCountsByItself() {
        Transfer transfer =
                segments(0, 2).and(file.region(16 * SEGMENT, 2 * SEGMENT), buffer.region(9 * SEGMENT, 2 * SEGMENT));
        CompletableFuture<Completion> read = start(transfer, 4);
        end(0, EIO);
        device.queue.releaseAll();
        PenstockException failure = failure(read);
        assertThat(failure.bytes(0)).isZero();
        assertThat(failure.bytes(1)).isEqualTo(2 * SEGMENT);
        assertThat(failure.outcome()).isEqualTo(Outcome.PARTIAL);
    }

    @Test
    void aFileThatEndsInTheMiddleOfAReadLeavesNoHoleThatCounts() {
        CompletableFuture<Completion> read = start(segments(0, 4), 4);
        end(1, 100);
        device.queue.hold = true;
        awaitHeld(4);
        end(1, 0); // the request for the rest finds the end of the file
        device.queue.releaseAll();
        assertThat(read.join().bytes()).isEqualTo(SEGMENT + 100);
        assertThat(read.join().bytes(0)).isEqualTo(SEGMENT + 100);
    }

    @Test
    void aFailureOfTheFirstSegmentLeavesTheOutcomeUnknown() {
        CompletableFuture<Completion> read = start(segments(0, 2), 2);
        end(0, EIO);
        device.queue.releaseAll();
        PenstockException failure = failure(read);
        assertThat(failure.outcome()).isEqualTo(Outcome.UNKNOWN);
        assertThat(failure.bytes()).isZero();
    }

    @Test
    void aRefusalThatLastsHasStartedNothing() {
        CompletableFuture<Completion> read = start(segments(0, 1), 1);
        for (int refusals = 0; refusals <= IoQueue.MOST_RETRIES; refusals++) {
            awaitHeld(1);
            end(0, -4);
        }
        PenstockException failure = failure(read);
        assertThat(failure).isInstanceOf(TransientStorageException.class);
        assertThat(failure.outcome()).isEqualTo(Outcome.NOT_STARTED);
    }

    @Test
    void segmentsThatWereNotStartedForLackOfABounceBufferDoNotCount() {
        FakeDevice granular = new FakeDevice(new Limits(512, 1, SEGMENT, SEGMENT, false));
        granular.files.put(Path.of("model.bin"), granular.new MemoryFile(new byte[32 * SEGMENT]));
        granular.bufferRefusal = new IllegalStateException("no memory for bounce buffers");
        try (Backend blocks = Engine.open(
                "blocks", granular, List.of(granular), Options.none().resolve(CommonOptions.all()))) {
            StorageFile same =
                    Objects.requireNonNull(blocks.openFile(Path.of("model.bin")).block(LONG));
            DeviceBuffer into =
                    Objects.requireNonNull(blocks.allocate(3 * SEGMENT).block(LONG));
            Transfer transfer = Transfer.read(same.region(0, SEGMENT), into.region(0, SEGMENT))
                    .and(same.region(5 * SEGMENT + 1, 512), into.region(SEGMENT, 512)) // through a bounce buffer
                    .and(same.region(9 * SEGMENT, SEGMENT), into.region(2 * SEGMENT, SEGMENT));
            Completion failed = Objects.requireNonNull(
                    blocks.submit(Flux.just(transfer), SubmitOptions.DEFAULT.errors(SubmitOptions.Errors.MATERIALIZE))
                            .blockLast(LONG));
            assertThat(failed).isInstanceOf(FailedCompletion.class);
            assertThat(List.of(failed.bytes(0), failed.bytes(1), failed.bytes(2)))
                    .containsExactly((long) SEGMENT, 0L, 0L);
            assertThat(failed.bytes()).isEqualTo(SEGMENT);
        }
    }

    @Test
    void aTransferThatIsRefusedHasMovedNothing() {
        Transfer transfer = segments(0, 1);
        buffer.close();
        Completion refused = Objects.requireNonNull(
                backend.submit(Flux.just(transfer), SubmitOptions.DEFAULT.errors(SubmitOptions.Errors.MATERIALIZE))
                        .blockLast(LONG));
        assertThat(refused).isInstanceOf(FailedCompletion.class);
        assertThat(refused.bytes()).isZero();
        assertThat(refused.bytes(0)).isZero();
    }

    /** What an application keeps of a million transfers; their files and buffers it has by the transfer anyway. */
    @Test
    void aCompletionKeepsNeitherItsOpenTransferNorItsQueue() throws IllegalAccessException {
        CompletableFuture<Completion> read = start(segments(0, 4), 4);
        end(1, 100);
        device.queue.hold = true;
        awaitHeld(4);
        end(1, 0);
        device.queue.releaseAll();
        assertThat(keptBy(read.join()))
                .contains(Finished.class, Reach.class)
                .doesNotContain(IoQueue.class, Segment.class);
        CompletableFuture<Completion> whole = backend.submit(segments(0, 1)).toFuture();
        assertThat(keptBy(whole.join())).contains(Finished.class).noneMatch(OpenTransfer.class::isAssignableFrom);
    }

    /** Returns the classes of what {@code root} reaches, but not through what the application or the backend has. */
    private static Set<Class<?>> keptBy(Object root) throws IllegalAccessException {
        Set<Class<?>> kept = new HashSet<>();
        Deque<Object> left = new ArrayDeque<>(List.of(root));
        while (!left.isEmpty()) {
            Object object = left.pop();
            kept.add(object.getClass());
            for (Class<?> type = object.getClass(); type != Object.class; type = type.getSuperclass()) {
                for (Field field : type.getDeclaredFields()) {
                    boolean followed = !field.getType().isPrimitive()
                            && !field.getType().isArray()
                            && !Modifier.isStatic(field.getModifiers())
                            && field.getType() != Transfer.class
                            && field.getType() != IoPath.class;
                    if (followed) {
                        field.setAccessible(true);
                        Object value = field.get(object);
                        if (value != null && !kept.contains(value.getClass())) {
                            left.push(value);
                        }
                    }
                }
            }
        }
        return kept;
    }
}
