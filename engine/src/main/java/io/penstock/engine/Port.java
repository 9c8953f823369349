// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import java.nio.file.Path;
import java.util.Set;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** What the operators ({@link FluxSubmit}, {@link FluxStream}, {@link MonoDrain} ...) need of a backend. */
interface Port {

    /** Opens a file; as {@link io.penstock.Backend#openFile}. */
    Mono<StorageFile> openFile(Path path, Set<FileOption> options);

    /**
     * Allocates a buffer at once, without blocking.
     *
     * @throws io.penstock.PenstockException if the backend is closed or has no memory left
     */
    DeviceBuffer allocateNow(long bytes);

    /** Returns where signals are delivered. */
    Scheduler scheduler();

    /** Returns whether signals are delivered on the lane itself. */
    boolean isDirectDelivery();

    /** Returns whether the memory of a chunk is filled with poison when its lease is over. */
    boolean isPoisoning();

    /** Returns whether retained leases that are dropped unclosed are reported with the place where they were taken. */
    boolean isDetectingLeaks();

    /** Takes a transfer in, see {@link OpenTransfer#open()}. */
    void open(OpenTransfer transfer);
}
