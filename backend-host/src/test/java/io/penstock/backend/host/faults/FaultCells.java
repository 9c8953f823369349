// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.tck.Bench;
import io.penstock.tck.Content;
import io.penstock.tck.Pattern;
import io.penstock.tck.Rules;
import io.penstock.tck.Witness;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

/** The matrix of faults, a cell at a time; a subclass has the cells of its ways as {@code cells}. */
@Tag(Tool.FAULTS)
@Tag("slow")
abstract class FaultCells implements Rules {

    private static final int BYTES = FaultPlace.BYTES;
    private static final int OTHER_BYTES = 1 << 18;
    private static final long PATIENCE_NANOS = 20_000_000_000L;
    private static final long POLL_NANOS = 1_000_000;
    private static final Map<String, FaultPlace> PLACES = new HashMap<>(); // by name, mounted until the class ends
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    @AfterAll
    static void unmount() throws IOException {
        for (FaultPlace place : PLACES.values()) {
            place.close();
        }
        PLACES.clear();
    }

    private FaultPlace place(String name) {
        FaultPlace known = PLACES.get(name);
        return known != null
                ? known
                : Tool.require(() -> {
                    Path scratch = Files.createDirectories(subject().folder().toAbsolutePath());
                    FaultPlace mounted = new FaultPlace(name, Files.createTempDirectory(scratch, "cells"));
                    PLACES.put(name, mounted);
                    return mounted;
                });
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cells")
    void aFaultEndsAsItsRowSaysAndHoldsUpNoOther(FaultCell cell, Bench bench) throws IOException {
        FaultPlace place = place(cell.place());
        Path path = place.create("cell" + NUMBERS.incrementAndGet());
        ByteArrayOutputStream logged = new ByteArrayOutputStream();
        PrintStream usual = System.err;
        try {
            System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
            FaultWay way = new FaultWay(bench, cell, path);
            place.inject(cell.operation(), cell.fault(), path);
            Witness<Long> witness = Witness.of(way.operation());
            if (cell.isHeld()) {
                place.awaitHeld();
            }
            assertOthersGoOn(bench);
            if (cell.isHeld()) {
                assertThat(witness.hasEnded()).as("ended before the device has").isFalse();
                end(cell, witness);
                place.clear(cell.fault());
            }
            if (!cell.fault().equals("hung")) {
                Signal.await(witness);
                if (!cell.isHeld() && !cell.place().equals("ext4")) {
                    place.clear(cell.fault());
                }
                assertRight(cell, way, path, witness);
            }
            way.close();
            place.clear(cell.fault());
            assertNothingHeld(bench.backend());
            place.awaitNothingHidden();
        } catch (Throwable e) {
            place.clear(cell.fault());
            place.clean();
            throw e;
        } finally {
            System.setErr(usual);
        }
        assertThat(place.clean()).as("files").isSubsetOf(String.valueOf(path.getFileName()));
        assertLogged(cell, path, logged.toString(StandardCharsets.UTF_8));
    }

    /** Nothing is logged but what the row lists. */
    private static void assertLogged(FaultCell cell, Path path, String logged) {
        String warnings =
                logged.lines().filter(line -> !line.contains(" INFO ")).collect(Collectors.joining("\n"));
        if (cell.right().startsWith("logged ")) {
            assertThat(warnings).contains(path.toString()).containsAnyOf(words(cell.fault()));
        } else {
            assertThat(warnings).as("logged").isEmpty();
        }
    }

    /** What hangs is given up; what is slow is waited for. */
    private static void end(FaultCell cell, Witness<Long> witness) {
        if (cell.fault().equals("hung")) {
            witness.cancel();
        }
    }

    /** A transfer of another file ends, and one that waits keeps its deadline. */
    private static void assertOthersGoOn(Bench bench) {
        Path other = bench.file("other", OTHER_BYTES);
        try (StorageFile file = bench.openPlain(other, FileOption.READ);
                DeviceBuffer buffer = Bench.get(bench.backend().allocate(OTHER_BYTES))) {
            Transfer read = Transfer.read(file.region(0, OTHER_BYTES), buffer.all());
            Completion completion =
                    Signal.value(Witness.of(bench.backend().submit(read.deadline(Duration.ofSeconds(4)))));
            assertThat(completion.bytes()).isEqualTo(OTHER_BYTES);
            Content.assertHolds(Content.bytes(buffer.all()), Pattern.of(other), 0, OTHER_BYTES);
            Transfer waiting = read.after(new Never()).deadline(Duration.ofMillis(20));
            assertThat(Signal.failure(bench.backend().submit(waiting)))
                    .isInstanceOf(TransientStorageException.class)
                    .hasMessageContaining("deadline");
        }
    }

    private record Never() implements DeviceFence {
        @Override
        public boolean isSignalled() {
            return false;
        }

        @Override
        public Mono<Void> signalled() {
            return Mono.never();
        }

        @Override
        public Mono<Completion> outcome() {
            return Mono.never();
        }

        @Override
        public long nativeHandle() {
            return 0;
        }

        @Override
        public void close() {}
    }

    private static void assertRight(FaultCell cell, FaultWay way, Path path, Witness<Long> witness) throws IOException {
        assertThat(witness.terminals()).as("terminal signals (rule 101)").isOne();
        switch (cell.right()) {
            case "cut" -> assertMoved(cell, way, path, witness.value(), BYTES / 2);
            case "whole", "logged EIO", "logged ENOSPC" -> assertMoved(cell, way, path, witness.value(), BYTES);
            default -> assertFailed(cell, path, Exceptions.unwrap(witness.error()));
        }
    }

    private static void assertMoved(FaultCell cell, FaultWay way, Path path, long count, int expected)
            throws IOException {
        switch (cell.operation()) {
            case "truncate" -> assertThat(count).isEqualTo(BYTES / 2);
            default -> assertThat(count).as("the bytes, or the length").isEqualTo(expected);
        }
        switch (cell.operation()) {
            case "read" -> {
                if (way.hasFile()) {
                    Content.assertHolds(Content.bytes(way.memory().region(0, expected)), Pattern.of(path), 0, expected);
                }
            }
            case "write", "sync", "close", "rename" -> {
                if (!cell.fault().equals("removed") && !(cell.fault().equals("replaced") && way.hasFile())) {
                    Content.assertHolds(path, FaultWay.WRITTEN, 0, expected);
                }
            }
            case "truncate" -> {
                if (!cell.fault().equals("removed") && !cell.fault().equals("replaced")) {
                    assertThat(Files.size(path)).isEqualTo(BYTES / 2);
                    Content.assertHolds(path, Pattern.of(path), 0, BYTES / 2);
                }
            }
            default -> {}
        }
    }

    private static void assertFailed(FaultCell cell, Path path, Throwable failure) {
        String[] right = cell.right().split(" ");
        Class<?> type = switch (right[0]) {
            case "permanent" -> PermanentStorageException.class;
            case "transient" -> TransientStorageException.class;
            case "unchecked" -> UncheckedIOException.class;
            default -> IOException.class;
        };
        assertThat(failure).isInstanceOf(type).hasMessageContaining(path.toString());
        assertThat(String.valueOf(failure.getMessage()))
                .as("names the file, not a descriptor, and what went wrong")
                .doesNotContain("/proc/self/fd")
                .doesNotContain("null")
                .containsAnyOf(words(right[1]));
        if (failure instanceof PenstockException known && !right[1].startsWith("\"")) {
            assertThat(known.nativeError()).as("the native error").isPresent();
            assertThat(known.nativeError().orElseThrow().symbol()).isEqualTo(right[1]);
        }
        if (cell.operation().equals("rename")) {
            Content.assertHolds(path, Pattern.of(path), 0, BYTES);
        }
    }

    /** Returns how an error may be told: by its symbol, or, where only the JDK knows it, by the C library's words. */
    private static String[] words(String symbol) {
        return switch (symbol) {
            case "EIO" -> new String[] {"EIO", "Input/output error"};
            case "ENOSPC" -> new String[] {"ENOSPC", "No space left on device"};
            case "ESTALE" -> new String[] {"ESTALE", "Stale file handle"};
            case "EINTR" -> new String[] {"EINTR", "Interrupted system call"};
            case "ENOENT" -> new String[] {""};
            default -> new String[] {symbol.replace("\"", "").replace('_', ' ')};
        };
    }

    private static void assertNothingHeld(Backend backend) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (holds(backend.counters()) && deadline - System.nanoTime() > 0) {
            LockSupport.parkNanos(POLL_NANOS);
        }
        assertThat(holds(backend.counters())).as("%s", backend.counters()).isFalse();
    }

    private static boolean holds(Backend.Counters counters) {
        return counters.inFlight() + counters.files() + counters.buffers() + counters.stagingBuffersInUse() > 0
                || counters.pins() > 0;
    }
}
