// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** Members of one process, which meet as processes do, and whose transfers end when the test says so. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "sockets have POSIX permissions")
class SharedProcessesTest {

    private static final int CHUNKS = 16; // of one byte: twice of what one member reads at a time
    private static final Duration LONG = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    private Path path;
    private StorageFile file;

    @BeforeEach
    void makeFile() throws IOException {
        path = Files.write(folder.resolve("file"), new byte[CHUNKS]);
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        file = of(
                StorageFile.class,
                Map.of("path", none -> path, "size", none -> (long) CHUNKS, "attributes", none -> attributes));
    }

    private static <T> T of(Class<T> type, Map<String, Function<Object[], Object>> answers) {
        InvocationHandler handler = (self, method, arguments) -> {
            Function<Object[], Object> answer = answers.get(method.getName());
            if (answer != null) {
                return answer.apply(arguments);
            }
            return switch (method.getName()) {
                case "hashCode" -> System.identityHashCode(self);
                case "equals" -> self == arguments[0];
                case "toString" -> "a " + type.getSimpleName();
                case "close" -> null;
                default -> InvocationHandler.invokeDefault(self, method, arguments);
            };
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + LONG.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited in vain").isLessThan(end);
            Thread.onSpinWait();
        }
    }

    private SharedRead shared(int processes, Duration patience) {
        return SharedRead.ofProcesses(folder.resolve("read"), processes, patience)
                .part("of-test", 1);
    }

    private List<Path> sockets() {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(each -> !each.equals(path)).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A member with a buffer and a backend of its own. */
    private final class Joining {

        private final ConcurrentMap<Long, Runnable> reads = new ConcurrentHashMap<>(); // by offset: their ends
        private final ConcurrentMap<Long, Runnable> copies = new ConcurrentHashMap<>();
        private final List<Long> begun = new CopyOnWriteArrayList<>(); // the offsets of all reads
        private final StorageFile buffers;
        private final DeviceBuffer buffer;
        private final Backend backend =
                of(Backend.class, Map.of("submit", arguments -> submit((Transfer) arguments[0])));
        private volatile @Nullable CountDownLatch gate; // where it copies
        private volatile boolean stuck;

        Joining(String name) {
            buffers = of(StorageFile.class, Map.of("path", none -> Path.of(name), "size", none -> (long) CHUNKS));
            PeerExport export = of(
                    PeerExport.class,
                    Map.of("uri", none -> URI.create("test:" + name), "released", none -> Mono.empty()));
            buffer = of(
                    DeviceBuffer.class,
                    Map.of(
                            "length", none -> (long) CHUNKS,
                            "asFile", none -> buffers,
                            "exportPeer", none -> export));
        }

        private Mono<Completion> submit(Transfer transfer) {
            boolean isRead = transfer.fileRegion(0).file() == file;
            if (isRead) {
                begun.add(transfer.fileOffset(0));
            }
            CountDownLatch waiting = gate;
            if (!isRead && waiting != null) {
                stuck = true;
                try {
                    waiting.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            return Mono.create(end -> (isRead ? reads : copies).put(transfer.fileOffset(0), () -> end(end, transfer)));
        }

        private void end(MonoSink<Completion> end, Transfer transfer) {
            end.success(of(
                    Completion.class,
                    Map.of(
                            "transfer", none -> transfer,
                            "bytes", none -> transfer.length(),
                            "path", none -> TransferPath.STAGED,
                            "reason", none -> "",
                            "startedNanos", none -> 0L,
                            "endedNanos", none -> 0L)));
        }

        Mono<Completion> join(SharedRead shared) {
            return shared.join(backend, Transfer.read(file.all(), new BufferRegion(buffer, 0, CHUNKS)));
        }

        void endAll() {
            for (ConcurrentMap<Long, Runnable> each : List.of(reads, copies)) {
                each.keySet().forEach(offset -> each.remove(offset).run());
            }
        }
    }

    @Test
    void whatWasCopiedFromAProcessThatHadCancelledByThenIsReadAgain() throws Exception {
        Joining host = new Joining("host");
        Joining other = new Joining("other");
        CompletableFuture<Completion> whole = host.join(shared(2, LONG)).toFuture();
        await(() -> host.reads.size() == CHUNKS / 2);
        Disposable second = other.join(shared(2, LONG)).subscribe();
        await(() -> other.reads.size() == CHUNKS / 2);
        long chunk = CHUNKS / 2;
        other.reads.get(chunk).run();
        await(() -> host.copies.containsKey(chunk));

        CountDownLatch waits = new CountDownLatch(1);
        other.gate = waits; // where it neither answers nor leaves
        host.reads.remove(0L).run();
        await(() -> other.stuck);
        second.dispose(); // from now on its application may write to its buffer
        host.copies.remove(chunk).run();
        Joining third = new Joining("third");
        CompletableFuture<Completion> late = third.join(shared(2, LONG)).toFuture();
        await(() -> third.copies.containsKey(0L)); // the host has seen the end of its own copy before, too
        waits.countDown();
        await(() -> host.reads.containsKey(chunk));
        await(() -> {
            host.endAll();
            third.endAll();
            return whole.isDone() && late.isDone();
        });
        assertThat(whole.get().bytes()).isEqualTo(CHUNKS);
        assertThat(late.get().bytes()).isEqualTo(CHUNKS);
        await(() -> sockets().isEmpty());
    }

    @Test
    void aNewHostIsToldWhatTheOthersHaveAndWhatTheyRead() throws Exception {
        Joining host = new Joining("gone");
        Joining other = new Joining("left");
        Disposable first = host.join(shared(2, LONG)).subscribe();
        await(() -> host.reads.size() == CHUNKS / 2);
        CompletableFuture<Completion> whole = other.join(shared(2, LONG)).toFuture();
        await(() -> other.reads.size() == CHUNKS / 2);
        long chunk = CHUNKS / 2;
        other.reads.remove(chunk).run();
        await(() -> host.copies.containsKey(chunk)); // it is known that the other has this one
        first.dispose();
        await(() -> other.reads.containsKey(0L));
        await(() -> {
            other.endAll();
            return whole.isDone();
        });
        assertThat(whole.get().bytes()).isEqualTo(CHUNKS);
        assertThat(other.begun).as("chunks that it has read").hasSize(CHUNKS).doesNotHaveDuplicates();
        await(() -> sockets().isEmpty());
    }

    @Test
    void onlyTheSameUserCanConnectAndACancelLeavesNothing() throws IOException {
        Joining process = new Joining("alone");
        Mono<Completion> joined = process.join(shared(2, LONG));
        assertThat(sockets()).as("before it is subscribed to").isEmpty();
        Disposable running = joined.subscribe();
        await(() -> !process.reads.isEmpty());
        Path socket = folder.resolve("read-of-test.0");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)))
                .isEqualTo("rw-------");
        running.dispose();
        await(() -> sockets().isEmpty());
        assertThat(joined.toFuture())
                .failsWithin(LONG)
                .withThrowableThat()
                .withMessageContaining("a shared read runs once");
    }

    @Test
    void processesThatReadOtherRegionsAreRefused() {
        Joining host = new Joining("first");
        Disposable running = host.join(shared(2, LONG)).subscribe();
        await(() -> !host.reads.isEmpty());
        Joining other = new Joining("second");
        Transfer shorter = Transfer.read(file.region(0, 5), new BufferRegion(other.buffer, 0, 5));
        assertThat(shared(2, LONG).join(other.backend, shorter).toFuture())
                .failsWithin(LONG)
                .withThrowableThat()
                .withCauseInstanceOf(PermanentStorageException.class)
                .withMessageContaining("this one reads other regions than the others");
        running.dispose();
        await(() -> sockets().isEmpty());
    }

    /** Later parts of a load do not wait, each anew, for one that has gone. */
    @Test
    void whoWasMissingIsNotWaitedForByOtherParts() throws Exception {
        SharedRead all = SharedRead.ofProcesses(folder.resolve("read"), 2, Duration.ofMillis(1));
        Joining first = new Joining("one");
        CompletableFuture<Completion> read = first.join(all.part("first", 1)).toFuture();
        await(() -> {
            first.endAll();
            return read.isDone();
        });
        assertThat(read.get().reason()).endsWith("; 1 of 2 processes came within PT0.001S");
        Joining later = new Joining("two");
        CompletableFuture<Completion> next = later.join(all.part("later", 1)).toFuture();
        await(() -> {
            later.endAll();
            return next.isDone();
        });
        assertThat(next.get().reason()).endsWith("copied from buffers of other members");
    }

    @Test
    void whatCannotBeMetIsAnError() {
        Joining process = new Joining("nowhere");
        SharedRead shared = SharedRead.ofProcesses(folder.resolve("none").resolve("read"), 2, LONG);
        assertThat(process.join(shared).toFuture())
                .failsWithin(LONG)
                .withThrowableThat()
                .withCauseInstanceOf(PermanentStorageException.class)
                .withMessageContaining(
                        "cannot meet at " + folder.resolve("none").resolve("read"));
        assertThatIllegalArgumentException().isThrownBy(() -> shared(0, LONG));
        assertThatIllegalStateException().isThrownBy(() -> new SharedRead().part("a", 1));
    }
}
