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
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One way from files to the memory of a device. A backend tries its routes in order and takes the first that does not
 * refuse.
 *
 * <p>Thread-safe.
 */
public interface Route {

    /** Returns the path that completions name. */
    TransferPath path();

    /** Returns how the path is known. */
    Evidence evidence();

    /** Returns what completions say beside the path: why not a more direct one, what is computed; empty for nothing. */
    default String reason() {
        return "";
    }

    /** Returns what would make the path more direct; empty where nothing would. */
    default String remedy() {
        return "";
    }

    /**
     * Opens a file for this route; called once per file, when it is opened, off the lanes.
     *
     * @throws IOException with the JDK's types where they fit; the file cannot be opened then
     */
    NativeFile open(Path path, Set<FileOption> options) throws IOException;

    /**
     * Returns why this route does not take a transfer between these two, or an empty string if it does; asked for every
     * transfer.
     *
     * @param memory the memory of a buffer, or null where the target is an image
     */
    default String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        return "";
    }

    /**
     * Returns why this route does not take a transfer, where that is not for its file or memory but for its size, shape
     * or fences, or an empty string; asked for every transfer, after {@link #refusal(NativeFile, Target, DeviceMemory)}.
     */
    default String refusal(Transfer transfer) {
        return "";
    }

    /**
     * Returns why this route does not take this part of a file yet, or an empty string: for routes that have to make
     * something ready first. Asked for every part of a transfer that is not a gather, after the other refusals.
     */
    default String refusal(NativeFile file, long fileOffset, long bytes) {
        return "";
    }

    /**
     * Tells that a transfer which this route has refused begins on a later one, once for each of its parts, so that the
     * route learns what is used again. Of a gather it is told once, with part 0. Does not block.
     *
     * @param memory the memory of the part's buffer, or null where the target is an image
     */
    default void passedOver(NativeFile file, @Nullable DeviceMemory memory, Transfer transfer, int part) {}

    /**
     * Returns whether the requests of a transfer will wait on the device for a fence, so that the lane need not hold the
     * transfer back for it. Asked when this route takes a transfer that has a point, once for each fence that has a
     * native object and is not passed; any thread.
     *
     * @param point the transfer's, which keeps what its requests will need
     * @param fence one that this backend's driver made or {@linkplain DeviceDriver#makes knows}, or one behind a transfer
     *     of this backend's, whose native object then stays until this returns
     */
    default boolean awaits(Transfer transfer, FencePoint point, DeviceFence fence) {
        return false;
    }

    /**
     * Returns what decides whether two routes share lanes: those with equal answers do, across all backends of the
     * process. A route with lanes of its own answers {@code this}.
     */
    Object sharing();

    /** Returns how many lanes carry it, at least 1. */
    int lanes();

    /**
     * Opens the native queue of one lane; the lane closes it.
     *
     * @throws io.penstock.BackendUnavailableException if the system does not give one
     */
    NativeQueue openQueue();

    /**
     * Allocates a bounce slot for blocks with unaligned edges, which the processor and the route's requests reach. One that
     * the processor does not reach has the host address 0: where a READ into it is short, the route sees to it that what
     * lies behind reads as zeros before the next COPY_OUT to it.
     */
    DeviceMemory allocateSlot(long bytes);
}
