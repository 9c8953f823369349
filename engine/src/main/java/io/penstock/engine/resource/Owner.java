// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.PenstockException;
import java.nio.ByteBuffer;
import java.util.concurrent.RejectedExecutionException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** The interface of a backend for its files and buffers. Thread-safe. */
public interface Owner {

    /** Returns the threads for calls on files that may block. */
    default FileThreads fileThreads() {
        return FileThreads.shared();
    }

    /** Returns its name, for messages. */
    String name();

    /** Returns the scheduler that signals are delivered on. */
    Scheduler scheduler();

    /** Returns the scheduler that signals are delivered on where many come at a time: its workers do not poll. */
    Scheduler batchScheduler();

    /** Returns true if signals are delivered on the I/O queue's thread. */
    boolean isDirectDelivery();

    /** Returns where signals are delivered that nothing else brings there: the scheduler, or the thread that has them. */
    default Scheduler delivery() {
        return isDirectDelivery() ? Schedulers.immediate() : scheduler();
    }

    /** Returns a publisher whose signals are delivered there. */
    default <T> Mono<T> deliver(Mono<T> signal) {
        return isDirectDelivery() ? signal : signal.publishOn(scheduler());
    }

    /** Runs a signal there; on the calling thread if the application has shut down its scheduler: better than never. */
    default void deliver(Runnable signal) {
        if (isDirectDelivery()) {
            signal.run();
            return;
        }
        try {
            scheduler().schedule(signal);
        } catch (RejectedExecutionException e) {
            signal.run();
        }
    }

    /**
     * Returns true if retained leases that are dropped unclosed are reported with the stack trace of their creation,
     * and transfers that are refused since their file or buffer is closed with the stack trace of the close.
     */
    boolean isDetectingLeaks();

    /** Keeps the backend open until {@link #leave()}; false if it is closed. */
    boolean enter();

    /** As {@link #enter()}, but also while the backend is being closed, as long as another caller keeps it open. */
    boolean enterWhileOpen();

    /** Reverts one {@link #enter()} that returned true. */
    void leave();

    OpenResources resources();

    /** Completes {@link DeviceBuffer#revoked} of all buffers: the device is lost. Any number of times. */
    void deviceLost();

    /** Takes note of how a request ends, before its subscriber: an I/O queue that broke counts as a lost device. */
    default void ending(PenstockException why) {
        if (why instanceof DeviceLostException) {
            deviceLost();
        }
    }

    /** Returns a publisher that syncs a file; as {@link io.penstock.StorageFile#sync()}. */
    Mono<Void> sync(EngineFile file);

    /** Returns a publisher that copies bytes to a buffer; as {@link io.penstock.DeviceBuffer#upload}. */
    Mono<Long> upload(EngineBuffer buffer, long offset, ByteBuffer from);

    /** Returns a publisher that copies bytes from a buffer; as {@link io.penstock.DeviceBuffer#download}. */
    Mono<Long> download(EngineBuffer buffer, long offset, ByteBuffer to);

    /**
     * As {@link #download}, for a transfer that has pinned the buffer and entered this backend; it signals on any
     * thread, also within {@code subscribe}.
     */
    Mono<Long> downloadPinned(EngineBuffer buffer, long offset, ByteBuffer to);
}
