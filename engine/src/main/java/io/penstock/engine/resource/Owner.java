// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import java.nio.ByteBuffer;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The backend that a file or a buffer belongs to, as far as they need it. Thread-safe. */
public interface Owner {

    /** Returns its name, for messages. */
    String name();

    /** Returns where signals are delivered. */
    Scheduler scheduler();

    /** Returns whether signals are delivered on the lane itself. */
    boolean isDirectDelivery();

    /** Keeps the backend open until {@link #leave()}; false if it is closed. */
    boolean enter();

    /** Takes back one {@link #enter()} that returned true. */
    void leave();

    /** Returns what is open. */
    OpenResources resources();

    /** Returns the sync of a file; as {@link io.penstock.StorageFile#sync()}. */
    Mono<Void> sync(EngineFile file);

    /** Returns the copy of bytes to a buffer ({@code up}), or from it, which completes with their number. */
    Mono<Long> copy(EngineBuffer buffer, long offset, ByteBuffer bytes, boolean up);
}
