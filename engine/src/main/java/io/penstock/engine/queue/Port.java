// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.engine.resource.Owner;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.IoPath;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Mono;

/** The interface of a backend for open transfers and operators. Thread-safe. */
public interface Port extends Owner {

    /** Opens a file; as {@link io.penstock.Backend#openFile}. */
    Mono<StorageFile> openFile(Path path, Set<FileOption> options);

    /**
     * Allocates a buffer at once, without blocking.
     *
     * @throws io.penstock.PenstockException if the backend is closed or is out of memory
     */
    DeviceBuffer allocateNow(long bytes);

    /** Returns true if the memory of a chunk is filled with poison when its lease ends. */
    boolean isPoisoning();

    /** Returns the time; on an I/O thread, the time of its turn. */
    long nanos();

    /** Admits a transfer, see {@link OpenTransfer#open()}. */
    void open(OpenTransfer transfer);

    /** Releases what {@link #open} acquired; on the I/O queue, when no native request of the transfer is in flight. */
    void left(OpenTransfer transfer);

    /**
     * Lets the next transfer of its order key start: its I/O queue broke, and its end will not be known. What it pins
     * stays pinned.
     */
    void lost(OpenTransfer transfer);

    /**
     * Hands a request that belongs to no transfer to an I/O queue. A request after a close that timed out is abandoned.
     */
    void start(IoQueue ioQueue, SingleRequest request);

    /** Returns the I/O queue of a path for a subscription of the calling thread. */
    IoQueue pick(int ioPath);

    /** Returns the paths, in order of preference; the last one is the most general. */
    List<IoPath> ioPaths();

    DeviceDriver driver();

    /** Returns the listeners of its transfers. */
    TransferListeners listeners();
}
