// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * How {@link Backend#stream} splits files into chunks, and how many it reads ahead. Immutable.
 *
 * <p>The memory of a stream is {@code depth * chunkBytes}, whatever the size of the file.
 */
public final class StreamPlan {

    private static final long DEFAULT_CHUNK = 4 << 20;
    private static final int DEFAULT_DEPTH = 4;

    private final Optional<Path> path;
    private final Set<FileOption> options;
    private final List<FileRegion> regions;
    private final long chunkBytes;
    private final int depth;
    private final boolean directDelivery;

    private StreamPlan(
            Optional<Path> path,
            Set<FileOption> options,
            List<FileRegion> regions,
            long chunkBytes,
            int depth,
            boolean directDelivery) {
        this.path = path;
        this.options = options;
        this.regions = regions;
        this.chunkBytes = chunkBytes;
        this.depth = depth;
        this.directDelivery = directDelivery;
    }

    /**
     * Streams a whole file, up to its length at subscription. It is opened when the stream is subscribed to, and closed
     * when the stream ends. What is appended meanwhile is left out. A file that becomes shorter meanwhile is an error,
     * behind the chunks that were there: {@link PermanentStorageException}, of {@link Outcome#PARTIAL}.
     *
     * <p>A file that reports length 0 is read to its end, one chunk after the other, in chunks of at most 4 MiB: files in
     * {@code /proc} report no length but have bytes. So is a file of sysfs, which reports the length of a page.
     */
    public static StreamPlan of(Path path, FileOption... options) {
        Set<FileOption> set = options.length == 0 ? Set.of(FileOption.READ) : Set.of(options);
        return new StreamPlan(Optional.of(path), set, List.of(), DEFAULT_CHUNK, DEFAULT_DEPTH, false);
    }

    /**
     * Streams regions, in the order given; no chunk spans two regions. A region may reach beyond the end of its file, and
     * ends where the file ends when it is read, without an error: where that may change meanwhile, compare the bytes with
     * the region's, or let the plan name the file.
     */
    public static StreamPlan of(FileRegion... regions) {
        return of(List.of(regions));
    }

    /** As {@link #of(FileRegion...)}. */
    public static StreamPlan of(List<FileRegion> regions) {
        return new StreamPlan(Optional.empty(), Set.of(), List.copyOf(regions), DEFAULT_CHUNK, DEFAULT_DEPTH, false);
    }

    /**
     * Returns this plan with chunks of at most {@code bytes} (default: 4 MiB).
     *
     * @throws IllegalArgumentException if less than 1
     */
    public StreamPlan chunkBytes(long bytes) {
        Plans.checkChunk(bytes);
        return new StreamPlan(path, options, regions, bytes, depth, directDelivery);
    }

    /**
     * Returns this plan with {@code chunks} leased at a time (default: 4): the chunk in use and chunks read
     * ahead.
     *
     * @throws IllegalArgumentException if less than 1
     */
    public StreamPlan depth(int chunks) {
        Plans.checkDepth(chunks);
        return new StreamPlan(path, options, regions, chunkBytes, chunks, directDelivery);
    }

    /**
     * Returns this plan with signals on the threads on which chunks have been read, I/O queues' among them, as {@link
     * CommonOptions#DELIVERY} {@code direct} does for all of a backend. For a function and a subscriber that return at
     * once, and never block: such as functions that hand the bytes to an event loop of their own, which saves a thread
     * in between. What the end of a lease makes possible is signalled on a thread of Reactor's, not within {@link
     * HostLease#close}.
     */
    public StreamPlan directDelivery() {
        return new StreamPlan(path, options, regions, chunkBytes, depth, true);
    }

    /** Returns the file to open, if the plan names one. */
    public Optional<Path> path() {
        return path;
    }

    /** Returns the options with which to open that file. */
    public Set<FileOption> options() {
        return options;
    }

    /** Returns the regions to stream; empty if the plan names a file. */
    public List<FileRegion> regions() {
        return regions;
    }

    /** Returns the bytes of a chunk; the last of each region may be shorter. */
    public long chunkBytes() {
        return chunkBytes;
    }

    /** Returns how many chunks are leased at a time. */
    public int depth() {
        return depth;
    }

    /** Returns whether signals come on the threads on which chunks have been read. */
    public boolean isDirectDelivery() {
        return directDelivery;
    }

    @Override
    public String toString() {
        String source = path.map(Path::toString).orElseGet(() -> Plans.show(regions));
        return "stream of " + source + Plans.show(chunkBytes, depth);
    }
}
