// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.mapped;

import io.penstock.Option;
import io.penstock.Options;
import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.mapped.FileMapping.Segment;
import io.penstock.engine.kit.DaemonThread;
import io.penstock.engine.kit.SharedContext;
import io.penstock.engine.kit.ffi.LibC;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The ranges of files registered with the driver in one context, up to a limit of pinned bytes; ranges that no copy
 * reads are evicted, the least recently used first. A closed file's ranges stay registered, for the next opening of the
 * same content.
 *
 * <p>Separate threads register and unregister, which takes a millisecond for some tens of megabytes; an I/O queue never
 * does. They register ahead of a sequential reader.
 *
 * <p><b>Threading:</b> thread-safe; one lock, held during no native call except the mapping of a file.
 */
public final class Registrations implements SharedContext.Part {

    /** The options that set the sizes. */
    public record Names(Option<Long> bytes, Option<Long> segmentBytes, Option<Integer> threads) {}

    /**
     * Sizes and number of threads.
     *
     * @param names the options that set them
     * @param segmentBytes the unit of registration, a multiple of the page size
     * @param mostBytes the limit of pinned bytes; one segment is always allowed
     * @param threads the number of registrars
     */
    public record Sizes(Names names, long segmentBytes, long mostBytes, int threads) {

        /** Reads the options. */
        public static Sizes of(Names names, Options options) {
            long most = options.get(names.bytes);
            int threads = options.get(names.threads);
            int processors = Runtime.getRuntime().availableProcessors();
            long page = LibC.pageSize();
            return new Sizes(
                    names,
                    (options.get(names.segmentBytes) + page - 1) & -page,
                    most != 0 ? most : LibC.physicalMemoryBytes() / 4,
                    threads != 0 ? threads : Math.max(2, Math.min(8, processors / 2)));
        }

        @Override
        public boolean equals(Object other) { // written out for the reason that GpuContext has
            return other instanceof Sizes sizes
                    && names == sizes.names
                    && segmentBytes == sizes.segmentBytes
                    && mostBytes == sizes.mostBytes
                    && threads == sizes.threads;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(31 * (31 * segmentBytes + mostBytes) + threads);
        }

        @Override
        public String toString() {
            return names.bytes + "=" + Option.show(mostBytes) + ", " + names.segmentBytes + "="
                    + Option.show(segmentBytes) + " and " + names.threads + "=" + threads;
        }
    }

    private final GpuContext context;
    private final Sizes sizes;

    private final Map<FileKey.Inode, FileMapping> mappings = new HashMap<>(); // of the newest known content
    private final ArrayDeque<Segment> requested = new ArrayDeque<>();
    private final ArrayDeque<Segment> leaving = new ArrayDeque<>(); // of discarded contents
    private final Set<Segment> idle = new LinkedHashSet<>(); // registered, read by no copy; least recently used first
    private final List<DaemonThread> threads = new ArrayList<>();
    private long pinnedBytes;
    private boolean closed;

    private Registrations(GpuContext context, Sizes sizes) {
        this.context = context;
        this.sizes = sizes;
    }

    /**
     * Returns the registrations of a context; the first call sets the sizes.
     *
     * @throws IllegalArgumentException if an earlier call set other sizes
     */
    public static Registrations of(GpuContext context, Sizes sizes) {
        Registrations known = context.part(Registrations.class, unregistered -> new Registrations(unregistered, sizes));
        if (!known.sizes.equals(sizes)) {
            throw new IllegalArgumentException("this process already maps files with " + known.sizes + " on "
                    + context.gpu() + ", and cannot use " + sizes + " as well");
        }
        return known;
    }

    // Files.

    /** Returns the mapping of a file's content, shared with its other users. */
    public synchronized FileMapping open(FileKey key, int fd) throws IOException {
        FileMapping mapping = mappings.get(key.file());
        if (mapping != null && !mapping.key.equals(key)) {
            discard(mapping); // that content is not found again: its pins are useless
            mapping = null;
        }
        if (mapping == null) {
            mapping = FileMapping.map(key, fd, sizes.segmentBytes);
            mappings.put(key.file(), mapping);
        }
        mapping.files++;
        return mapping;
    }

    /** Returns why the driver cannot register pages of a file, as on some file systems; or an empty string. */
    public String tryPage(int fd) {
        return Pinning.tryPage(context, fd);
    }

    /** Releases a mapping; no copy of that file may be in flight. */
    public synchronized void close(FileMapping mapping) {
        mapping.files--;
        unmapIfUnused(mapping);
    }

    private void unmapIfUnused(FileMapping mapping) {
        if (mapping.files == 0 && mapping.registered == 0) {
            mappings.remove(mapping.key.file(), mapping);
            mapping.unmap();
        }
    }

    /**
     * Discards a content that the file no longer has: it is not returned any more, and its segments are unregistered.
     */
    public synchronized void discard(FileMapping mapping) {
        mapping.discarded = true;
        mappings.remove(mapping.key.file(), mapping);
        for (Segment segment : mapping.segments()) {
            if (idle.remove(segment)) {
                leave(segment);
            }
        }
        notifyAll();
    }

    // Copies, on I/O queues.

    /** Starts to use a segment; returns false if {@code copy} is notified later, by {@link Segment.Waiter#arrived}. */
    public synchronized boolean use(Segment segment, Segment.Waiter copy) {
        if (segment.state == Segment.State.REGISTERED) {
            idle.remove(segment);
            segment.copies++;
            return true;
        }
        segment.waiting.add(copy);
        request(segment);
        return false;
    }

    /** Registers the segments that a sequential reader needs next, if it came from the previous segment. */
    public synchronized void runAhead(Segment segment) {
        FileMapping mapping = segment.mapping;
        if (mapping.before(segment).state == Segment.State.ABSENT) {
            return; // not a sequential read
        }
        for (int distance = 1; distance <= sizes.threads; distance++) {
            Segment ahead = mapping.ahead(segment, distance);
            // Read-ahead must not evict segments in use, or other read-ahead.
            long pinnedThen = pinnedBytes + sizes.segmentBytes * (requested.size() + 1);
            if (ahead.state == Segment.State.ABSENT && pinnedThen <= sizes.mostBytes) {
                request(ahead);
            }
        }
    }

    /** Returns true if a whole range of a file is registered, so that no copy of it has to wait. */
    public synchronized boolean isRegistered(FileMapping mapping, long fileOffset, long bytes) {
        for (long at = fileOffset; at < fileOffset + bytes; at = mapping.at(at).end()) {
            if (mapping.at(at).state != Segment.State.REGISTERED) {
                return false;
            }
        }
        return true;
    }

    /**
     * Counts that a range of a file is read on another path; a range read so before is registered in the background.
     */
    public synchronized void readElsewhere(FileMapping mapping, long fileOffset, long bytes) {
        if (mapping.mappedBytes() > sizes.mostBytes || mapping.discarded) {
            return; // one pass would evict its own registrations
        }
        long end = fileOffset + bytes;
        for (long at = fileOffset; at < end; at = mapping.at(at).end()) {
            Segment segment = mapping.at(at);
            if (segment.isReadElsewhere()) {
                request(segment);
            }
            segment.elsewhere += Math.min(end, segment.end()) - at;
        }
    }

    /** Ends one copy's use of a segment. */
    public synchronized void done(Segment segment) {
        if (--segment.copies > 0) {
            return;
        }
        rest(segment);
        if (!requested.isEmpty() || !leaving.isEmpty()) {
            notifyAll(); // for registrars that wait for room
        }
    }

    private void rest(Segment segment) {
        if (segment.mapping.discarded) {
            leave(segment);
        } else {
            idle.add(segment);
        }
    }

    private void leave(Segment segment) {
        segment.state = Segment.State.LEAVING;
        leaving.add(segment);
    }

    private void request(Segment segment) {
        if (segment.state != Segment.State.ABSENT) {
            return;
        }
        segment.state = Segment.State.WANTED;
        segment.mapping.registered++;
        requested.add(segment);
        while (threads.size() < sizes.threads) {
            DaemonThread thread = new DaemonThread("penstock-registrar-" + (threads.size() + 1), this::run);
            if (threads.isEmpty()) {
                thread.start();
            } else if (!thread.tryStart()) {
                break; // the threads that exist do the work
            }
            threads.add(thread);
        }
        notifyAll();
    }

    // Registrars.

    private void run() {
        int bound = context.bind();
        for (Segment next = next(); next != null; next = next()) {
            if (next.state == Segment.State.LEAVING) {
                context.driver()
                        .memHostUnregister(next.address); // fails only where the context, and with it the pin, is gone
                left(next);
            } else {
                arrived(next, bound == DriverApi.SUCCESS ? Pinning.register(context.driver(), next) : bound);
            }
        }
    }

    /** Returns a segment to register or unregister, or null at the end. */
    private synchronized @Nullable Segment next() {
        while (!closed) {
            Segment first = requested.peek();
            if (first != null && (pinnedBytes == 0 || pinnedBytes + first.bytes <= sizes.mostBytes)) {
                requested.poll();
                first.state = Segment.State.ARRIVING;
                pinnedBytes += first.bytes;
                return first;
            }
            if (!leaving.isEmpty()) {
                return leaving.poll(); // after what copies wait for, where there is room for that
            }
            Iterator<Segment> oldest = idle.iterator();
            if (first != null && oldest.hasNext()) {
                Segment unused = oldest.next();
                oldest.remove();
                unused.state = Segment.State.LEAVING;
                return unused;
            }
            try {
                wait();
            } catch (InterruptedException e) {
                // No code interrupts this thread, and its work is not done.
            }
        }
        return null;
    }

    private synchronized void arrived(Segment segment, int result) {
        if (result == DriverApi.SUCCESS) {
            segment.state = Segment.State.REGISTERED;
            segment.copies = segment.waiting.size();
            if (segment.copies == 0) {
                rest(segment);
            }
        } else {
            absent(segment);
        }
        List<Segment.Waiter> waiting = List.copyOf(segment.waiting);
        segment.waiting.clear();
        waiting.forEach(copy -> copy.arrived(result));
        if (result != DriverApi.SUCCESS) {
            unmapIfUnused(segment.mapping);
        }
        notifyAll();
    }

    private synchronized void left(Segment segment) {
        absent(segment);
        if (segment.waiting.isEmpty()) {
            unmapIfUnused(segment.mapping);
        } else {
            request(segment);
        }
        notifyAll();
    }

    private void absent(Segment segment) {
        segment.state = Segment.State.ABSENT;
        segment.mapping.registered--;
        segment.elsewhere = 0;
        pinnedBytes -= segment.bytes;
    }

    /** Unregisters everything; nothing may use it any more. Blocks until the registrars have finished. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        threads.forEach(DaemonThread::awaitEnd);
        List<Segment> pinned = Stream.concat(idle.stream(), leaving.stream()).toList();
        // If the context is gone, the pins are too.
        context.attempt(() -> {
            pinned.forEach(segment -> context.driver().memHostUnregister(segment.address));
            return DriverApi.SUCCESS;
        });
        pinned.forEach(this::released);
        Stream.concat(requested.stream().map(segment -> segment.mapping), mappings.values().stream())
                .distinct()
                .forEach(FileMapping::unmap);
    }

    private void released(Segment segment) {
        absent(segment);
        FileMapping mapping = segment.mapping;
        if (mapping.discarded && mapping.registered == 0) {
            mapping.unmap();
        }
    }
}
