// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.penstock.Backend;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;
import reactor.core.scheduler.Schedulers;

/**
 * Files that are kept open between requests, so that a hot one is opened once.
 *
 * <p>A file that is replaced, or evicted by the limit or after {@link #IDLE}, is closed once it is unused; device reads
 * from it are pinned and complete first (rule 202).
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class OpenFiles implements AutoCloseable {

    /** How long an unused file stays open: until then a deleted one keeps its space on the disk. */
    static final Duration IDLE = Duration.ofSeconds(10);

    private final Backend backend;
    private final ServedDirectory directory;
    private final int most;
    private final LongSupplier clock;
    private final Map<Path, Entry> byPath = new LinkedHashMap<>(16, 0.75f, true); // guarded by this; oldest use first
    private int uses; // guarded by this
    private boolean sweeping; // guarded by this
    private boolean closed; // guarded by this

    /**
     * Keeps files of {@code directory} open in {@code backend}.
     *
     * @param most the most open files, unless more are in use
     */
    public OpenFiles(Backend backend, ServedDirectory directory, int most) {
        this(backend, directory, most, System::nanoTime);
    }

    OpenFiles(Backend backend, ServedDirectory directory, int most, LongSupplier clock) {
        this.backend = backend;
        this.directory = directory;
        this.most = most;
        this.clock = clock;
    }

    /** Keeps a file open until this is closed. */
    public final class Use implements AutoCloseable {

        private final Entry entry;
        private final AtomicBoolean over = new AtomicBoolean();

        private Use(Entry entry) {
            this.entry = entry;
        }

        public StorageFile file() {
            return entry.file;
        }

        @Override
        public void close() {
            if (over.compareAndSet(false, true)) {
                leave(entry);
            }
        }
    }

    private static final class Entry {
        final String key;
        final StorageFile file;
        int users = 1;
        long unusedSince;
        boolean evicted;

        Entry(FoundFile found, StorageFile file) {
            this.key = found.key();
            this.file = file;
        }
    }

    /**
     * Opens a file, or reuses an open one. Neither emitted nor dropped values need to be closed: {@code held} closes
     * them.
     *
     * <p><b>Errors:</b> the errors of {@link Backend#openFile}; {@link NoSuchFileException} if the path now leads to
     * another file. Completes empty if {@code held} was closed meanwhile.
     */
    Mono<Use> use(FoundFile found, Held held) {
        return Mono.defer(() -> {
            Use use = tryUse(found);
            if (use == null) {
                return open(found, held);
            }
            return held.hold(use) ? Mono.just(use) : Mono.empty();
        });
    }

    private Mono<Use> open(FoundFile found, Held held) {
        return backend.openFile(found.path(), FileOption.READ)
                .doOnNext(held::hold) // before the first operator that drops its value on cancellation
                .publishOn(Schedulers.boundedElastic()) // since the second check may block
                .handle((file, sink) -> {
                    if (held.release(file)) {
                        check(found, file, held, sink);
                    }
                });
    }

    /** Takes over {@code file}. */
    private void check(FoundFile found, StorageFile file, Held held, SynchronousSink<Use> sink) {
        try {
            // What was opened is compared too: the path may have led elsewhere only meanwhile.
            if (!directory.isStill(found) || !found.isKeyOf(file.attributes())) {
                throw new NoSuchFileException(found.path().toString());
            }
        } catch (IOException | RuntimeException e) {
            file.close();
            sink.error(e);
            return;
        }
        Use use = add(found, file);
        if (held.hold(use)) {
            sink.next(use);
        }
    }

    /** Returns the number of uses that are not closed. */
    synchronized int uses() {
        return uses;
    }

    /** Returns the number of open files. */
    synchronized int size() {
        return byPath.size();
    }

    private synchronized @Nullable Use tryUse(FoundFile found) {
        Entry entry = byPath.get(found.path());
        if (entry == null || !entry.key.equals(found.key())) {
            return null;
        }
        entry.users++;
        uses++;
        return new Use(entry);
    }

    private Use add(FoundFile found, StorageFile file) {
        Entry entry = new Entry(found, file);
        List<StorageFile> ended = new ArrayList<>();
        synchronized (this) {
            uses++;
            Entry before = closed ? entry : byPath.put(found.path(), entry);
            if (before != null) {
                evict(before, ended); // replaced on disk, or opened by two requests at once
            }
            shrink(ended);
        }
        ended.forEach(StorageFile::close);
        return new Use(entry);
    }

    private void leave(Entry entry) {
        List<StorageFile> ended = new ArrayList<>();
        boolean sweep = false;
        synchronized (this) {
            uses--;
            entry.unusedSince = clock.getAsLong();
            if (--entry.users == 0 && entry.evicted) {
                ended.add(entry.file);
            } else if (entry.users == 0 && !sweeping) {
                sweeping = true;
                sweep = true;
            }
            shrink(ended);
        }
        ended.forEach(StorageFile::close);
        if (sweep) {
            sweepLater();
        }
    }

    private void sweepLater() {
        try {
            Schedulers.boundedElastic().schedule(this::sweep, IDLE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) { // the application has shut it down: now rather than never
            sweep(0);
        }
    }

    /** Evicts the least recently used files beyond the limit. */
    private void shrink(List<StorageFile> ended) {
        Iterator<Entry> entries = byPath.values().iterator();
        for (int excess = byPath.size() - most; excess > 0 && entries.hasNext(); ) {
            Entry entry = entries.next();
            if (entry.users == 0) {
                entries.remove();
                evict(entry, ended);
                excess--;
            }
        }
    }

    private static void evict(Entry entry, List<StorageFile> ended) {
        entry.evicted = true;
        if (entry.users == 0) {
            ended.add(entry.file);
        }
    }

    /** Closes what has not been used for {@link #IDLE}; reschedules itself as long as files are open. */
    void sweep() {
        sweep(IDLE.toNanos());
    }

    private void sweep(long idleNanos) {
        List<StorageFile> ended = new ArrayList<>();
        boolean again;
        synchronized (this) {
            long now = clock.getAsLong();
            byPath.values().removeIf(entry -> {
                boolean idle = entry.users == 0 && now - entry.unusedSince >= idleNanos;
                if (idle) {
                    evict(entry, ended);
                }
                return idle;
            });
            again = !closed && byPath.values().stream().anyMatch(entry -> entry.users == 0);
            sweeping = again;
        }
        ended.forEach(StorageFile::close);
        if (again) {
            sweepLater();
        }
    }

    /** Closes unused files now, and the others when their uses are closed. */
    @Override
    public void close() {
        List<StorageFile> ended = new ArrayList<>();
        synchronized (this) {
            closed = true;
            byPath.values().forEach(entry -> evict(entry, ended));
            byPath.clear();
        }
        ended.forEach(StorageFile::close);
    }
}
