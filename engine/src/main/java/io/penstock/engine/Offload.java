// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/** Runs calls that may block (open, allocate, truncate) off lanes and subscribers, and closes what comes too late. */
final class Offload {

    private static final int PENDING = 0;
    private static final int OVER = 1;

    private Offload() {}

    /** Returns what {@code call} returns; a result that comes after a cancel is closed. */
    static <T extends AutoCloseable> Mono<T> open(Port port, Callable<? extends T> call) {
        Mono<T> opened = Mono.<T>create(sink -> run(sink, call));
        return (port.isDirectDelivery() ? opened : opened.publishOn(port.scheduler()))
                .doOnDiscard(AutoCloseable.class, Offload::close);
    }

    private static <T extends AutoCloseable> void run(MonoSink<T> sink, Callable<? extends T> call) {
        // Whoever of the cancel and the result is first decides: the loser finds OVER, and a result that lost is
        // closed.
        AtomicInteger state = new AtomicInteger(PENDING);
        sink.onCancel(() -> state.compareAndSet(PENDING, OVER));
        Schedulers.boundedElastic().schedule(() -> {
            try {
                T result = call.call();
                if (state.compareAndSet(PENDING, OVER)) {
                    sink.success(result);
                } else {
                    close(result);
                }
            } catch (Exception e) {
                sink.error(e);
            }
        });
    }

    /** Completes when {@code call} has returned. */
    static Mono<Void> run(Port port, Callable<?> call) {
        Mono<Void> done = Mono.fromCallable(call).then().subscribeOn(Schedulers.boundedElastic());
        return port.isDirectDelivery() ? done : done.publishOn(port.scheduler());
    }

    /** Runs what may block: elsewhere, if the calling thread must not. */
    static void blocking(Runnable call) {
        if (Schedulers.isInNonBlockingThread()) {
            try {
                Schedulers.boundedElastic().schedule(call);
                return;
            } catch (RejectedExecutionException e) {
                // The application has shut the scheduler down: better on the wrong thread than never.
            }
        }
        call.run();
    }

    private static void close(AutoCloseable late) {
        try {
            late.close();
        } catch (Exception e) {
            throw new IllegalStateException("closing " + late + ", which nobody wants any more, failed", e);
        }
    }
}
