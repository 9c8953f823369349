// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.engine.kit.ElasticCalls;
import io.penstock.engine.order.Pins;
import io.penstock.engine.queue.IoQueues;
import io.penstock.engine.resource.BufferExport;
import io.penstock.engine.resource.OpenResources;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Closes a backend (rule 601): refuses new work, waits for a bounded time, frees what is unused, reports what is still
 * in use.
 */
public final class Closing {

    private static final Logger LOG = LoggerFactory.getLogger(Closing.class);

    /** The time limit for stopping I/O queues and freeing, on top of the wait for transfers. */
    private static final Duration GRACE = Duration.ofSeconds(20);

    private final EngineBackend backend;
    private final Duration timeout; // for transfers in flight
    private final Pins pins; // one for each open transfer and each call that opens something
    private final CompletableFuture<Void> drained = new CompletableFuture<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    private volatile boolean abandoned;

    Closing(EngineBackend backend, Duration timeout) {
        this.backend = backend;
        this.timeout = timeout;
        this.pins = new Pins(() -> drained.complete(null));
    }

    Pins pins() {
        return pins;
    }

    /** Returns the number of transfers that have not ended, and of calls that open something. */
    int inFlight() {
        OpenResources resources = backend.resources();
        return Math.max(0, pins.count() - resources.exports().size() - resources.closing()); // which have pins too
    }

    /** Returns true if transfers that had not ended were abandoned. */
    boolean isAbandoned() {
        return abandoned;
    }

    void close() {
        if (Schedulers.isInNonBlockingThread()) {
            throw new IllegalStateException("close() blocks, but thread "
                    + Thread.currentThread().getName() + " must not block: use closeLater()");
        }
        later().block(timeout.plus(GRACE));
    }

    Mono<Void> later() {
        return Mono.fromFuture(
                () -> {
                    begin();
                    return closed;
                },
                true);
    }

    private void begin() {
        if (!pins.close()) {
            return;
        }
        backend.stopRecording();
        backend.resources().exports().forEach(BufferExport::closeIfRevocable);
        Disposable end = scheduleAbandon();
        // Freeing makes system calls, so it does not run on the I/O queue that ended the last transfer.
        Runnable free = () -> {
            end.dispose();
            free();
        };
        Mono.fromFuture(drained).subscribe(nothing -> {}, e -> {}, () -> ElasticCalls.run(free));
    }

    /** Not on a thread for calls that block: all such threads may be taken by calls that wait. */
    private Disposable scheduleAbandon() {
        long millis = timeout.toMillis();
        try {
            return Schedulers.parallel().schedule(this::abandon, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) { // the application has shut it down
            Executor later = CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS);
            CompletableFuture<Void> abandoned = CompletableFuture.runAsync(this::abandon, later);
            return () -> abandoned.cancel(false); // which does not run then
        }
    }

    private void free() {
        Throwable broken = null;
        try {
            backend.resources().closeAll();
            backend.driver().close();
        } catch (Throwable e) { // an error of the driver; the I/O queues are stopped nevertheless
            broken = e;
        }
        CompletableFuture<?>[] stops =
                backend.ioQueues().stream().map(IoQueues::release).toArray(CompletableFuture[]::new);
        backend.deliveryThreads().stop();
        Mono<Void> freed = broken == null ? Mono.empty() : Mono.error(broken);
        Mono.fromFuture(CompletableFuture.allOf(stops))
                .then(freed)
                .subscribe(nothing -> {}, this::failed, () -> closed.complete(null));
    }

    private void failed(Throwable cause) {
        if (!closed.completeExceptionally(cause)) { // its time limit has passed
            LOG.warn("{} could not be freed", backend, cause);
        }
    }

    /** Fails the transfers that did not end, and frees nothing: the device may still write. */
    private void abandon() {
        abandoned = true; // before I/O queues are notified: see EngineBackend.start
        List<BufferExport> exports = backend.resources().exports();
        int unended = inFlight();
        if (unended > 0) {
            LOG.warn(
                    "{} is closed with {} transfers that have not ended after {}; their memory is not freed",
                    backend,
                    unended,
                    timeout);
        }
        if (backend.resources().closing() > 0) {
            LOG.warn(
                    "{} is closed; files that are still being closed: {}",
                    backend,
                    backend.resources().closing());
        }
        for (BufferExport export : exports) {
            LOG.warn(
                    "{} is closed, but the {} is not released: its memory is not freed, since its peers may access it",
                    backend,
                    export);
        }
        for (IoQueues ioQueues : backend.ioQueues()) {
            ioQueues.all().forEach(ioQueue -> ioQueue.post(() -> ioQueue.abandon(backend)));
        }
        closed.complete(null);
        // If the device finishes later, the last transfer still frees everything: drained was not cancelled.
    }
}
