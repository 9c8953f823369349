// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.engine.resource.Owner;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.Route;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Mono;

/** A backend, as open transfers and the operators above them need it. Thread-safe. */
public interface Port extends Owner {

    /** Opens a file; as {@link io.penstock.Backend#openFile}. */
    Mono<StorageFile> openFile(Path path, Set<FileOption> options);

    /**
     * Allocates a buffer at once, without blocking.
     *
     * @throws io.penstock.PenstockException if the backend is closed or has no memory left
     */
    DeviceBuffer allocateNow(long bytes);

    /** Returns whether the memory of a chunk is filled with poison when its lease is over. */
    boolean isPoisoning();

    /** Returns whether retained leases that are dropped unclosed are reported with the place where they were taken. */
    boolean isDetectingLeaks();

    /** Takes a transfer in, see {@link OpenTransfer#open()}. */
    void open(OpenTransfer transfer);

    /** Takes back what {@link #open} gave; on the lane, when nothing of the transfer is in native hands any more. */
    void left(OpenTransfer transfer);

    /** Hands a request that belongs to no transfer to a lane. One that comes after a close timed out is given up. */
    void start(Lane lane, SingleRequest request);

    /** Returns the lane of a route for what the calling thread subscribes to. */
    Lane pick(int route);

    /** Returns the routes, in order of preference; the last one is the most general. */
    List<Route> routes();

    /** Returns the driver of the device. */
    DeviceDriver driver();
}
