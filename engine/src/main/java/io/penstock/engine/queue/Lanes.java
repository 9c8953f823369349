// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The lanes of a route: threads of the process, {@link LaneThreads}, or stepped by a simulation. Thread-safe. */
public interface Lanes {

    /** Returns the lane for what the calling thread subscribes to. */
    Lane pick();

    List<Lane> all();

    /** Leaves the lanes; completes when this caller's part is done. */
    CompletableFuture<Void> release();
}
