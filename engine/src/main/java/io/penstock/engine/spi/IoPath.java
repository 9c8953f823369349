// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.DeviceFence;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One path between files and the memory of a device. A backend tries its paths in order and takes the first that does
 * not refuse.
 *
 * <p>Thread-safe.
 */
public interface IoPath {

    /** Returns the path that completions name. */
    TransferPath path();

    /** Returns the paths of a backend that completions may name, for its capabilities. */
    static Set<TransferPath> kinds(List<IoPath> ioPaths) {
        Set<TransferPath> kinds = EnumSet.noneOf(TransferPath.class);
        ioPaths.forEach(ioPath -> kinds.add(ioPath.path()));
        return kinds;
    }

    /** Returns how the path is determined. */
    Evidence evidence();

    /** Returns the reason that completions state: why no more direct path was taken, what is computed; may be empty. */
    default String reason() {
        return "";
    }

    /**
     * Returns up to how many bytes of a read a subscriber's thread itself takes, if they are {@linkplain
     * NativeFile#readCached in memory of the host}; 0 if it takes none.
     */
    default long mostCachedBytes() {
        return 0;
    }

    /** Returns what would make the path more direct; empty if nothing would. */
    default String remedy() {
        return "";
    }

    /** Returns by what means it moves bytes, why by no better ones, and the remedy; for people. */
    default String means() {
        return path() + (reason().isEmpty() ? "" : ": " + reason()) + (remedy().isEmpty() ? "" : "; " + remedy());
    }

    /** Returns whether the system has refused the means that it prefers. */
    default boolean isFallback() {
        return false;
    }

    /**
     * Opens a file for this path; called once per file, when it is opened, off the I/O queues. If its limits require
     * aligned blocks, a file that is opened for writing must be readable too: blocks with unaligned edges are read,
     * merged and written.
     *
     * @throws IOException if the file cannot be opened; a JDK type where one fits
     */
    NativeFile open(Path path, Set<FileOption> options) throws IOException;

    /**
     * Returns why this path does not take a transfer between these two, or an empty string if it does. Called for every
     * transfer.
     *
     * @param memory the memory of a buffer, or null if the target is an image
     */
    default String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        return "";
    }

    /**
     * Returns why this path does not take a transfer because of its size, shape or fences, or an empty string if it
     * does. Called for every transfer, after {@link #refusal(NativeFile, Target, DeviceMemory)}.
     */
    default String refusal(Transfer transfer) {
        return "";
    }

    /**
     * Returns why this path does not take this part of a file yet, or an empty string: for paths that need to prepare
     * something first. Called for every part of a transfer that is not a gather, after the other refusals.
     */
    default String refusal(NativeFile file, long fileOffset, long bytes) {
        return "";
    }

    /**
     * Notifies this path that a transfer it refused begins on a later one, so that it learns what is used again. Called
     * once per part; for a gather once, with part 0. Does not block.
     *
     * @param memory the memory of the part's buffer, or null if the target is an image
     */
    default void skipped(NativeFile file, @Nullable DeviceMemory memory, Transfer transfer, int part) {}

    /**
     * Returns whether the requests of a transfer will wait on the device for a fence, so that the I/O queue need not
     * hold the transfer back for it. Called when this path takes a transfer that has a point, once for each fence that
     * has a native object and is not signalled; any thread.
     *
     * @param point the point of the transfer, which keeps what its requests will need
     * @param fence one that this backend's driver created or {@linkplain DeviceDriver#makes recognizes}, or one behind
     *     a transfer of this backend, whose native object then stays valid until this returns
     */
    default boolean awaits(Transfer transfer, FencePoint point, DeviceFence fence) {
        return false;
    }

    /**
     * Returns how this path's queues copy from one buffer to another, by a COPY_IN with a {@linkplain Request#source
     * source}; null if they do not: then the bytes go through host memory. Called on the last path, for every transfer
     * from a buffer; must not block.
     *
     * @param from memory of a buffer of any backend
     * @param to memory of a buffer of this backend
     */
    default @Nullable TransferPath copies(DeviceMemory from, DeviceMemory to) {
        return null;
    }

    /**
     * Returns the key by which paths share I/O queues: paths with equal keys do, across all backends of the process
     * that have the same options. A path with its own I/O queues returns {@code this}.
     */
    Object sharing();

    /** Returns how many I/O queues serve it, at least 1. */
    int ioQueues();

    /**
     * Opens the native queue of one I/O queue; the I/O queue closes it.
     *
     * @throws io.penstock.BackendUnavailableException if the system does not provide one
     */
    NativeQueue openQueue();

    /**
     * Allocates a bounce buffer for blocks with unaligned edges, which the processor and the path's requests reach. A
     * bounce buffer that the processor does not reach has the host address 0: after a short READ into it, the path
     * ensures that the rest reads as zeros before the next COPY_OUT to it.
     */
    DeviceMemory allocateBounceBuffer(long bytes);
}
