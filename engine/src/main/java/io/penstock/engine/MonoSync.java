// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.engine.spi.Command;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** A sync as a barrier: starts when every write accepted before it has ended, on whatever lane (rule 403 after that). */
final class MonoSync extends Mono<Void> {

    private final EngineFile file;

    MonoSync(EngineFile file) {
        this.file = file;
    }

    @Override
    public void subscribe(CoreSubscriber<? super Void> actual) {
        EngineBackend backend = file.backend();
        Mono<Void> sync = Mono.create(this::start);
        (backend.isDirectDelivery() ? sync : sync.publishOn(backend.scheduler())).subscribe(actual);
    }

    private void start(MonoSink<Void> sink) {
        String request = "sync of " + file.path().getFileName();
        if (!file.tryPin()) {
            sink.error(Failures.closed(request, "the file"));
            return;
        }
        EngineBackend backend = file.backend();
        if (!backend.enter()) {
            file.unpin();
            sink.error(Failures.closed(request, "the backend"));
            return;
        }
        file.barrier().sync(() -> file.syncs().enter(() -> submit(request, sink)));
    }

    /** On the lane that has ended the last write, if one has: from there it goes without a wake-up. */
    private void submit(String request, MonoSink<Void> sink) {
        int route = file.lastRoute();
        Lane lane = file.backend().lanes(route).pick();
        lane.post(() -> lane.single(
                command -> command.sync(file.nativeFile(route)), result -> ended(request, lane, result, sink)));
    }

    private void ended(String request, Lane lane, long result, MonoSink<Void> sink) {
        WriteBarrier barrier = file.barrier();
        if (result < 0) {
            barrier.fail(Failures.sync(request, lane.failure(Command.Kind.SYNC, result)));
        }
        file.syncs().ended(); // after the failure is known
        file.unpin();
        file.backend().leave();
        Throwable failure = barrier.failure();
        if (failure == null) {
            sink.success();
        } else {
            sink.error(failure);
        }
    }
}
