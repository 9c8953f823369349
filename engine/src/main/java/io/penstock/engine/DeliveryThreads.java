// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.queue.PollingScheduler;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** The threads that deliver a backend's signals, as {@link CommonOptions#DELIVERY} and the time to poll demand. */
final class DeliveryThreads {

    private final Scheduler scheduler;
    private final Scheduler batchScheduler;
    private final @Nullable PollingScheduler polling;
    private final boolean direct;

    DeliveryThreads(Options options) {
        CommonOptions.Delivery delivery = options.get(CommonOptions.DELIVERY);
        boolean elastic = delivery == CommonOptions.Delivery.ELASTIC;
        Scheduler threads = new CurrentScheduler(elastic ? Schedulers::boundedElastic : Schedulers::parallel);
        Scheduler watch = new CurrentScheduler(Schedulers::single);
        direct = delivery == CommonOptions.Delivery.DIRECT;
        int pollMicros = delivery == CommonOptions.Delivery.PARALLEL ? options.get(CommonOptions.POLL_MICROS) : 0;
        long pollNanos = Pause.pollNanos(pollMicros);
        polling = pollNanos == 0 ? null : PollingScheduler.acquire(pollNanos, threads);
        Scheduler first = polling == null ? threads : polling;
        boolean watched = options.get(CommonOptions.DEBUG) && !elastic; // whose threads may block
        scheduler = watched ? new WatchedScheduler(first, watch) : first;
        batchScheduler = watched ? new WatchedScheduler(threads, watch) : threads;
    }

    Scheduler scheduler() {
        return scheduler;
    }

    Scheduler batchScheduler() {
        return batchScheduler;
    }

    boolean isDirect() {
        return direct;
    }

    /** Releases the thread that polls for signals; later signals are delivered on another thread. */
    void stop() {
        if (polling != null) {
            polling.release();
        }
    }
}
