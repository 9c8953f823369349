// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The fixture of a test: the backend, files of known content, poisoned memory. All of it is closed and removed
 * afterwards.
 */
public final class Bench {

    /** How long tests wait for an expected event; not a measure of speed. */
    public static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Duration PATIENCE_AFTER_FAILURE = Duration.ofSeconds(2);
    private static volatile Duration patience = PATIENCE;

    static final int WINDOW = 1 << 20;

    private static final boolean WINDOWS = System.getProperty("os.name", "").startsWith("Windows");
    private static final long POLL_NANOS = 2_000_000;

    private final TckSubject subject;
    private final Options options;
    private final Path folder;
    private final Deque<AutoCloseable> kept; // last opened, first closed
    private @Nullable Backend backend;

    Bench(TckSubject subject) {
        this(subject, subject.options(), newFolder(subject), new ArrayDeque<>());
    }

    private Bench(TckSubject subject, Options options, Path folder, Deque<AutoCloseable> kept) {
        this.subject = subject;
        this.options = options;
        this.folder = folder;
        this.kept = kept;
    }

    private static Path newFolder(TckSubject subject) {
        try {
            return Files.createTempDirectory(
                    Files.createDirectories(subject.folder().toAbsolutePath()), "tck");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns how long a test waits for an expected event: {@link #PATIENCE}, and much less after the first failure of
     * a class of tests, so that a broken backend does not cost 180 timeouts.
     */
    public static Duration patience() {
        return patience;
    }

    static void afterFailures(int failures) {
        patience = failures == 0 ? PATIENCE : PATIENCE_AFTER_FAILURE;
    }

    /** Returns a second bench in the same folder whose backend is opened with other options. */
    public Bench with(Options options) {
        return new Bench(subject, options, folder, kept);
    }

    /** Returns the subject. */
    public TckSubject subject() {
        return subject;
    }

    /** Returns the options of the backend. */
    public Options options() {
        return options;
    }

    /** Returns the backend, opened at the first call. */
    public Backend backend() {
        Backend opened = backend;
        if (opened == null) {
            opened = keep(subject.open(options));
            backend = opened;
        }
        return opened;
    }

    /** Closes {@code resource} after the test, before resources that were kept earlier. */
    public <C extends AutoCloseable> C keep(C resource) {
        synchronized (kept) {
            kept.push(resource);
        }
        return resource;
    }

    /** Returns the value of {@code mono}, which must not be empty. */
    public static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(patience()), "empty");
    }

    /** Waits for {@code mono} to complete. */
    public static void run(Mono<?> mono) {
        mono.block(patience());
    }

    /** Moves one transfer. */
    public Completion move(Transfer transfer) {
        return get(backend().submit(transfer));
    }

    /** Returns a path in the test's folder, without creating a file. */
    public Path path(String name) {
        return folder.resolve(name);
    }

    /** Creates a file of {@code length} bytes with the pattern of its name, unless this test has already created it. */
    public Path file(String name, long length) {
        return Files.exists(path(name)) ? path(name) : sparse(name, length, new long[] {0, length});
    }

    /**
     * Creates a file of {@code length} bytes with the pattern of its name from start to end of each island, and holes
     * elsewhere.
     */
    public Path sparse(String name, long length, long[]... islands) {
        Path path = path(name);
        Pattern pattern = Pattern.of(path);
        try (FileChannel channel = FileChannel.open(
                path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SPARSE)) {
            for (long[] island : islands) {
                for (long at = island[0]; at < island[1]; ) {
                    ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(WINDOW, island[1] - at));
                    pattern.fill(bytes, at);
                    at += channel.write(bytes.flip(), at);
                }
            }
            if (channel.size() < length) {
                channel.write(ByteBuffer.allocate(1), length - 1);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return path;
    }

    /** Opens a file with the options of the subject. */
    public StorageFile open(Path path, FileOption... options) {
        return openPlain(path, withSubjects(options).toArray(new FileOption[0]));
    }

    /** As {@link #open}, but without the promise that the file does not change. */
    public StorageFile openChanging(Path path, FileOption... options) {
        Set<FileOption> all = withSubjects(options);
        all.remove(FileOption.IMMUTABLE);
        return openPlain(path, all.toArray(new FileOption[0]));
    }

    /** Returns the options with which {@link #open} opens a file, given {@code options}. */
    Set<FileOption> withSubjects(FileOption... options) {
        Set<FileOption> all = EnumSet.noneOf(FileOption.class);
        Collections.addAll(all, options);
        all.addAll(subject.fileOptions());
        if (all.contains(FileOption.WRITE)) {
            all.remove(FileOption.IMMUTABLE);
        }
        return all;
    }

    /** Opens a device, a pipe or a folder, without the options of the subject. */
    public StorageFile openPlain(Path path, FileOption... options) {
        return keep(get(backend().openFile(path, options)));
    }

    /** Allocates a buffer full of poison. */
    public DeviceBuffer poisoned(long bytes) {
        DeviceBuffer buffer = keep(get(backend().allocate(bytes)));
        Content.poison(buffer);
        return buffer;
    }

    /** Allocates a buffer with a pattern's content from {@code offset} on. */
    public DeviceBuffer filled(long bytes, Pattern pattern, long offset) {
        DeviceBuffer buffer = keep(get(backend().allocate(bytes)));
        for (long at = 0; at < bytes; at += WINDOW) {
            ByteBuffer content = ByteBuffer.allocateDirect((int) Math.min(WINDOW, bytes - at));
            pattern.fill(content, offset + at);
            get(buffer.upload(at, content.flip()));
        }
        return buffer;
    }

    /**
     * Opens the file of a gate, to read or to write it.
     *
     * @throws IllegalStateException if the backend cannot; where there is no {@link GateProvider}, the gate is a pipe
     */
    StorageFile openGate(Gate gate, FileOption option) {
        try {
            return openPlain(gate.path(), option);
        } catch (RuntimeException e) {
            throw new IllegalStateException(
                    "the backend does not open the gate; tests of one on Penstock's engine need the artifact penstock-engine"
                            + " with the classifier testing, other subjects override gate or return an empty one",
                    e);
        }
    }

    /** Returns a read of the gate into {@code target}: it stays in flight until the gate releases it. */
    public Transfer heldRead(Gate gate, BufferRegion target) {
        StorageFile file = openGate(gate, FileOption.READ);
        return Transfer.read(file.region(0, target.length()), target);
    }

    /** Returns a write of 4096 bytes that the device refuses. */
    public Transfer failingWrite() {
        StorageFile file = open(file("unwritable", 4096), FileOption.READ, FileOption.WRITE);
        return Transfer.write(poisoned(4096).all(), file.region(subject.unwritableOffset(), 4096));
    }

    /** Returns the subject's gate, or skips the test; fails it if {@code PENSTOCK_REQUIRE} names {@code gate}. */
    public Gate gate() {
        try {
            Optional<Gate> gate = subject.gate(folder);
            Require.backend("gate", gate.isPresent() ? null : "this subject cannot keep native operations in flight");
            return keep(gate.orElseThrow());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Moves other bytes to completion, several times, so that a test can then assert that something has not happened.
     */
    public void letOthersRun() {
        int readers = 32;
        Path path = file("others", readers * 4096L);
        try (StorageFile file = open(path, FileOption.READ);
                DeviceBuffer buffer = get(backend().allocate(readers * 4096L))) {
            List<Mono<Completion>> reads = new ArrayList<>();
            for (int i = 0; i < readers; i++) {
                long at = i * 4096L;
                reads.add(backend().submit(Transfer.read(file.region(at, 4096), buffer.region(at, 4096))));
            }
            for (int round = 0; round < 4; round++) {
                run(Flux.merge(reads).then());
            }
        }
    }

    /** Closes everything and removes the folder. */
    void clear() {
        List<Throwable> failures = new ArrayList<>();
        // Gates first: held operations must end before anything else can.
        Comparator<AutoCloseable> gatesFirst = Comparator.comparing(resource -> !(resource instanceof Gate));
        for (AutoCloseable resource : kept.stream().sorted(gatesFirst).toList()) {
            try {
                resource.close();
            } catch (Exception e) {
                failures.add(e);
            }
        }
        kept.clear();
        try {
            remove(System.nanoTime() + patience.toNanos());
        } catch (IOException e) {
            failures.add(e);
        }
        assertThat(failures).as("failures during the cleanup").isEmpty();
    }

    /** Removes the folder; on Windows a deleted file stays until its last handle is closed. */
    private void remove(long deadlineNanos) throws IOException {
        while (true) {
            try (Stream<Path> paths = Files.walk(folder)) {
                for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
                return;
            } catch (FileSystemException | UncheckedIOException stillOpen) {
                if (!WINDOWS || System.nanoTime() > deadlineNanos) {
                    throw stillOpen;
                }
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
    }
}
