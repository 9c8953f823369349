// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Backend.StagingState;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** The I/O queues of a path: threads of the process, {@link IoThreads}, or stepped by a simulation. Thread-safe. */
public interface IoQueues {

    /** Returns the I/O queue for a subscription of the calling thread. */
    IoQueue pick();

    List<IoQueue> all();

    /** Returns how many staging buffers they have. */
    default int stagingBuffers() {
        return stagingStates().mapToInt(List::size).sum();
    }

    /** Returns how many of these are in use. */
    default int stagingBuffersInUse() {
        return all().stream()
                .mapToInt(ioQueue -> ioQueue.nativeQueue().stagingBuffersInUse())
                .sum();
    }

    /** Returns what the staging buffers of each are used for, if it has any. */
    default Stream<List<StagingState>> stagingStates() {
        return all().stream()
                .map(ioQueue -> ioQueue.nativeQueue().stagingStates())
                .filter(states -> !states.isEmpty());
    }

    /** Releases the I/O queues; completes when nothing of this caller is in flight. */
    CompletableFuture<Void> release();
}
