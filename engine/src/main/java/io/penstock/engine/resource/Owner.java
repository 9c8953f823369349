// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import java.nio.ByteBuffer;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The interface of a backend for its files and buffers. Thread-safe. */
public interface Owner {

    /** Returns its name, for messages. */
    String name();

    /** Returns the scheduler that signals are delivered on. */
    Scheduler scheduler();

    /** Returns true if signals are delivered on the I/O queue's thread. */
    boolean isDirectDelivery();

    /** Keeps the backend open until {@link #leave()}; false if it is closed. */
    boolean enter();

    /** As {@link #enter()}, for a caller that has entered already: also while the backend is being closed; returns true. */
    boolean enterAgain();

    /** As {@link #enter()}, but also while the backend is being closed, as long as another caller keeps it open. */
    boolean enterWhileOpen();

    /** Reverts one {@link #enter()} that returned true. */
    void leave();

    OpenResources resources();

    /** Returns a publisher that syncs a file; as {@link io.penstock.StorageFile#sync()}. */
    Mono<Void> sync(EngineFile file);

    /**
     * Returns a publisher that fills {@code to} with bytes of a buffer, from {@code offset} on, for a transfer that has pinned
     * the buffer and entered this backend; it signals on any thread, also within {@code subscribe}.
     */
    Mono<Long> download(EngineBuffer buffer, long offset, ByteBuffer to);

    /** Returns a publisher that copies bytes to a buffer ({@code up}) or from it, and emits their number. */
    Mono<Long> copy(EngineBuffer buffer, long offset, ByteBuffer bytes, boolean up);
}
