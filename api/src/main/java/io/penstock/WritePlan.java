// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * Where {@link Backend#write} writes the chunks that the application fills, and how many chunks are in flight.
 * Immutable.
 *
 * <p>The memory of a write is {@code depth * chunkBytes}, whatever the length of the file.
 */
public final class WritePlan {

    private static final long DEFAULT_CHUNK = 4 << 20;
    private static final int DEFAULT_DEPTH = 4;

    private final Optional<Path> path;
    private final Set<FileOption> options;
    private final Optional<FileRegion> region;
    private final long chunkBytes;
    private final int depth;
    private final boolean sync;
    private final boolean append;

    private WritePlan(
            Optional<Path> path,
            Set<FileOption> options,
            Optional<FileRegion> region,
            long chunkBytes,
            int depth,
            boolean sync,
            boolean append) {
        this.path = path;
        this.options = options;
        this.region = region;
        this.chunkBytes = chunkBytes;
        this.depth = depth;
        this.sync = sync;
        this.append = append;
    }

    /**
     * Writes a file from its first byte on. It is opened when the write is subscribed to, and closed when the write
     * ends. Without options it is created, or truncated to length 0.
     */
    public static WritePlan to(Path path, FileOption... options) {
        Set<FileOption> set = options.length == 0
                ? Set.of(FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE)
                : Set.of(options);
        return new WritePlan(Optional.of(path), set, Optional.empty(), DEFAULT_CHUNK, DEFAULT_DEPTH, false, false);
    }

    /**
     * Writes behind the last byte that a file has when it is opened, which is when the write is subscribed to. The file
     * is created if it does not exist. One writer at a time: two of them would write to the same place.
     */
    public static WritePlan append(Path path) {
        return new WritePlan(
                Optional.of(path),
                Set.of(FileOption.WRITE, FileOption.CREATE),
                Optional.empty(),
                DEFAULT_CHUNK,
                DEFAULT_DEPTH,
                false,
                true);
    }

    /** Writes a region of an open file; the write ends, at the latest, when the region is full. */
    public static WritePlan to(FileRegion region) {
        return new WritePlan(
                Optional.empty(), Set.of(), Optional.of(region), DEFAULT_CHUNK, DEFAULT_DEPTH, false, false);
    }

    /**
     * Returns this plan with chunks of {@code bytes} (default: 4 MiB).
     *
     * @throws IllegalArgumentException if less than 1
     */
    public WritePlan chunkBytes(long bytes) {
        Plans.checkChunk(bytes);
        return new WritePlan(path, options, region, bytes, depth, sync, append);
    }

    /**
     * Returns this plan with {@code chunks} leased at a time (default: 4): the chunk being filled and chunks
     * being written.
     *
     * @throws IllegalArgumentException if less than 1
     */
    public WritePlan depth(int chunks) {
        Plans.checkDepth(chunks);
        return new WritePlan(path, options, region, chunkBytes, chunks, sync, append);
    }

    /** Returns this plan, with completion only when all bytes are durable. */
    public WritePlan sync() {
        return new WritePlan(path, options, region, chunkBytes, depth, true, append);
    }

    /** Returns the file to open, if the plan names one. */
    public Optional<Path> path() {
        return path;
    }

    /** Returns the options with which to open that file. */
    public Set<FileOption> options() {
        return options;
    }

    /** Returns the region to write, if the plan names one. */
    public Optional<FileRegion> region() {
        return region;
    }

    /** Returns the bytes of a chunk. */
    public long chunkBytes() {
        return chunkBytes;
    }

    /** Returns how many chunks are leased at a time. */
    public int depth() {
        return depth;
    }

    /** Returns whether completion means durable. */
    public boolean syncs() {
        return sync;
    }

    /** Returns whether the write begins behind the last byte of the file. */
    public boolean appends() {
        return append;
    }

    @Override
    public String toString() {
        String target = path.map(Path::toString)
                .orElseGet(() -> Plans.show(region.stream().toList()));
        return (append ? "append to " : "write to ")
                + target
                + Plans.show(chunkBytes, depth)
                + (sync ? ", then sync" : "");
    }
}
