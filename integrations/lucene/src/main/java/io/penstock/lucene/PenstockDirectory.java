// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.Failure;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.FSLockFactory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.store.LockFactory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.OutputStreamIndexOutput;
import org.apache.lucene.store.ReadAdvice;
import org.apache.lucene.util.Unwrappable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory whose vectors are merged past the page cache, in windows ahead and behind, and whose announced vectors are
 * read in one batch. Every other file, and every other read, is left to an {@link MMapDirectory}, as is everything where
 * the system has refused io_uring ({@link LuceneOptions#FALLBACK}).
 *
 * <p>An index that fits in memory is better left to MMapDirectory alone: a direct read is some ten times slower than a
 * read of the page cache.
 *
 * <p><b>Threading:</b> as every directory, thread-safe; inputs and outputs are not. Announcements belong to the thread
 * that makes them. A thread blocks for a batch or a window, and never holds a monitor meanwhile.
 *
 * <p><b>Errors:</b> a failed transfer is an {@link IOException} that names the file and has the failure as its cause; the
 * next read begins anew. An interrupt is an {@link java.io.InterruptedIOException}, stays set, and closes nothing.
 *
 * <p><b>Ownership:</b> the backend belongs to the caller, who closes it behind the directory. Closing an input or the
 * directory frees what was read ahead, and closing the directory what was announced, on every thread.
 */
public final class PenstockDirectory extends FSDirectory {

    /**
     * What a directory has done since it was opened.
     *
     * @param gathers batches of announced vectors that were submitted, one for each file
     * @param gathered vectors in them
     * @param givenUp announcements that were never read
     * @param unannounced vectors of announced files that were read without an announcement, by MMapDirectory
     * @param mergeRead bytes requested for merges
     * @param mergeWritten bytes written by merges
     * @param refused files that could not be opened past the page cache, and were left to MMapDirectory
     */
    public record Counters(
            long gathers,
            long gathered,
            long givenUp,
            long unannounced,
            long mergeRead,
            long mergeWritten,
            long refused) {}

    private static final Logger LOG = LoggerFactory.getLogger(PenstockDirectory.class);
    private static final Cleaner CLEANER = Cleaner.create();

    final Backend backend;
    final long announcedBytes;
    final long windowBytes;
    final int windows;
    final LongAdder gathers = new LongAdder();
    final LongAdder gathered = new LongAdder();
    final LongAdder givenUp = new LongAdder();
    final LongAdder unannounced = new LongAdder();
    final LongAdder mergeRead = new LongAdder();
    final LongAdder mergeWritten = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final AtomicBoolean refusalLogged = new AtomicBoolean();
    private final MMapDirectory mapped; // all other files
    private final MMapDirectory scattered; // what is not announced of the served ones, without read-ahead
    private final PathMatcher merged;
    private final PathMatcher announced;
    private final boolean pageCache;
    private final boolean serves;
    private final Set<Announcements.Memory> memories = ConcurrentHashMap.newKeySet(); // of threads that live
    private volatile @Nullable ThreadLocal<Announcements> announcements =
            ThreadLocal.withInitial(this::announcementsOfThread);

    private PenstockDirectory(Path path, Backend backend, Options options, LockFactory locks) throws IOException {
        super(path, locks);
        this.backend = backend;
        this.announcedBytes = options.get(LuceneOptions.ANNOUNCED_BYTES);
        this.windowBytes = options.get(LuceneOptions.WINDOW_BYTES);
        this.windows = options.get(LuceneOptions.WINDOWS);
        this.pageCache = options.get(LuceneOptions.PAGE_CACHE);
        this.merged = FileSystems.getDefault().getPathMatcher("glob:" + options.get(LuceneOptions.MERGED));
        this.announced = FileSystems.getDefault().getPathMatcher("glob:" + options.get(LuceneOptions.ANNOUNCED));
        this.serves = serves(backend, options.get(LuceneOptions.FALLBACK));
        mapped = new MMapDirectory(path);
        scattered = new MMapDirectory(path);
        scattered.setReadAdvice((name, context) -> Optional.of(ReadAdvice.RANDOM));
        LOG.info(
                "index {}: {}, by backend {}: {}",
                path,
                serves
                        ? "merges of " + options.get(LuceneOptions.MERGED) + " and announced vectors of "
                                + options.get(LuceneOptions.ANNOUNCED)
                                + (pageCache ? " through" : " past") + " the page cache"
                        : "all files by MMapDirectory, since io_uring is refused",
                backend.name(),
                backend.means());
    }

    private static boolean serves(Backend backend, LuceneOptions.Fallback fallback) {
        if (!backend.capabilities().hostVisible()) {
            throw new IllegalArgumentException(
                    "the memory of the backend must be addressable by the processor, was of " + backend.name());
        }
        if (!backend.isFallback() || fallback == LuceneOptions.Fallback.THREADS) {
            return true;
        }
        if (fallback == LuceneOptions.Fallback.REFUSE) {
            throw new BackendUnavailableException(
                    "backend " + backend.name() + " has no io_uring: " + backend.means(), Failure.NOT_STARTED, null);
        }
        return false;
    }

    /**
     * Opens or creates an index with the options of system properties and environment; as {@link #open(Path, Backend,
     * Options, LockFactory)}.
     */
    public static PenstockDirectory open(Path path, Backend backend) throws IOException {
        return open(path, backend, Options.none(), FSLockFactory.getDefault());
    }

    /**
     * Opens or creates an index, and logs a line that says how its files are read.
     *
     * @param backend one whose memory the processor can address, such as {@code host}; with
     *     {@code penstock.delivery=direct} a batch has one hop less between threads
     * @param options of {@link LuceneOptions}; completed from system properties and environment
     * @throws IllegalArgumentException for a value out of range, or a backend with memory of a device
     * @throws BackendUnavailableException if the system has refused io_uring and {@link LuceneOptions#FALLBACK} says so
     */
    public static PenstockDirectory open(Path path, Backend backend, Options options, LockFactory locks)
            throws IOException {
        return new PenstockDirectory(path, backend, options.resolve(Backends.options()), locks);
    }

    @Override
    public IndexInput openInput(String name, IOContext context) throws IOException {
        ensureOpen();
        ensureCanRead(name);
        boolean takesAnnouncements = matches(announced, name);
        boolean merges = VectorInput.isMerge(context);
        if (!serves || !takesAnnouncements && !(merges && matches(merged, name))) {
            return mapped.openInput(name, context);
        }
        IndexInput rest = scattered.openInput(name, context);
        try {
            StorageFile file = open(name, FileOption.READ);
            if (file != null) {
                boolean takesMerges = matches(merged, name);
                return VectorInput.open(rest, VectorFile.of(this, file, takesAnnouncements, takesMerges, merges));
            }
            rest.close();
        } catch (IOException | RuntimeException e) {
            try (rest) {
                throw e;
            }
        }
        return mapped.openInput(name, context);
    }

    /** Returns null if the file system does not bypass the page cache. */
    private @Nullable StorageFile open(String name, FileOption access) throws IOException {
        Path file = Unwrappable.unwrapAll(directory.resolve(name));
        try {
            return pageCache
                    ? backend.blocking().openFile(file, access)
                    : backend.blocking().openFile(file, access, FileOption.DIRECT);
        } catch (FileSystemException e) {
            if (pageCache || e.getClass() != FileSystemException.class) { // there is none, for example
                throw e;
            }
            refused.increment();
            if (refusalLogged.compareAndSet(false, true)) {
                LOG.warn("index {}: files are left to MMapDirectory: {}", directory, e.getMessage());
            }
            return null;
        } catch (InterruptedException e) {
            throw Waiting.interrupted(file, e);
        }
    }

    @Override
    public IndexOutput createOutput(String name, IOContext context) throws IOException {
        IndexOutput output = super.createOutput(name, context); // takes the name off the deletions that are pending
        if (!serves || !VectorInput.isMerge(context) || !matches(merged, name)) {
            return output;
        }
        StorageFile file;
        try {
            file = open(name, FileOption.WRITE);
        } catch (IOException | RuntimeException e) {
            try (output) {
                throw e;
            }
        }
        if (file == null) {
            return output;
        }
        try {
            output.close(); // empty
        } catch (IOException | RuntimeException e) {
            try (file) {
                throw e;
            }
        }
        return new OutputStreamIndexOutput(
                "PenstockIndexOutput(" + file.path() + ")", name, new WriteBehind(this, file), 8192);
    }

    private static boolean matches(PathMatcher matcher, String name) {
        return matcher.matches(Path.of(name));
    }

    /**
     * Announces vectors of a field of a segment of this directory, with or without quantization: this thread is about to
     * read them. The first read of an announced vector submits all that were announced, and waits for them; the others
     * find theirs there. Of what is not of this directory nothing is read ahead but what {@link
     * FloatVectorValues#prefetch} does.
     *
     * @param values are copied, and keep their position
     * @param ordinals of vectors of {@code values}
     * @param count how many of them, from the first on
     * @return how many of them were announced: the others exceed {@link LuceneOptions#ANNOUNCED_BYTES}
     */
    public int announce(FloatVectorValues values, int[] ordinals, int count) throws IOException {
        ensureOpen();
        Objects.checkFromIndexSize(0, count, ordinals.length);
        FloatVectorValues copy = values.copy();
        Announcements mine = announcements();
        mine.recording(true);
        try {
            for (int i = 0; i < count; i++) {
                copy.vectorValue(ordinals[i]);
                if (mine.full) {
                    return i;
                }
                if (!mine.recorded) { // it was read
                    copy.prefetch(ordinals, count);
                    return 0;
                }
            }
        } finally {
            mine.recording(false);
        }
        return count;
    }

    /** Gives up what this thread has announced and not read. */
    public void forget() {
        announcements().forget();
    }

    Announcements announcements() {
        ThreadLocal<Announcements> mine = announcements;
        return mine == null ? announcementsOfThread() : mine.get();
    }

    private Announcements announcementsOfThread() {
        Announcements.Memory memory = new Announcements.Memory();
        if (announcements == null) {
            memory.close();
            return new Announcements(this, memory);
        }
        memories.add(memory);
        Announcements made = new Announcements(this, memory);
        Set<Announcements.Memory> all = memories;
        CLEANER.register(made, () -> {
            memory.close();
            all.remove(memory);
        });
        return made;
    }

    /** Returns what this directory has done. */
    public Counters counters() {
        return new Counters(
                gathers.sum(),
                gathered.sum(),
                givenUp.sum(),
                unannounced.sum(),
                mergeRead.sum(),
                mergeWritten.sum(),
                refused.sum());
    }

    @Override
    public synchronized void close() throws IOException {
        try (mapped;
                scattered) {
            super.close();
        } finally {
            announcements = null; // else threads would keep this directory by it
            memories.forEach(Announcements.Memory::close);
        }
    }
}
