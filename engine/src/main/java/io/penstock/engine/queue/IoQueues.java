// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The I/O queues of a path: threads of the process, {@link IoThreads}, or stepped by a simulation. Thread-safe. */
public interface IoQueues {

    /** Returns the I/O queue for a subscription of the calling thread. */
    IoQueue pick();

    List<IoQueue> all();

    /** Releases the I/O queues; completes when nothing of this caller is in flight. */
    CompletableFuture<Void> release();
}
