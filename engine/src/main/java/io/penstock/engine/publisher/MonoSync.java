// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.PenstockException;
import io.penstock.engine.queue.Lane;
import io.penstock.engine.queue.Port;
import io.penstock.engine.queue.SingleRequest;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** A sync as a barrier: starts when every write accepted before it has ended, on whatever lane (rule 403 after that). */
public final class MonoSync extends Mono<Void> {

    private final Port port;
    private final EngineFile file;

    public MonoSync(Port port, EngineFile file) {
        this.port = port;
        this.file = file;
    }

    @Override
    public void subscribe(CoreSubscriber<? super Void> actual) {
        Mono<Void> sync = Mono.create(this::start);
        (port.isDirectDelivery() ? sync : sync.publishOn(port.scheduler())).subscribe(actual);
    }

    private void start(MonoSink<Void> sink) {
        String asked = "sync of " + file.path().getFileName();
        if (!file.tryPin()) {
            sink.error(Failures.closed(asked, "the file"));
            return;
        }
        if (!port.enter()) {
            file.unpin();
            sink.error(Failures.closed(asked, "the backend"));
            return;
        }
        file.barrier().sync(() -> file.syncs().enter(() -> new Sync(asked, sink).submit()));
    }

    private final class Sync implements SingleRequest {

        private final String asked;
        private final MonoSink<Void> sink;
        private final int route = file.lastRoute();
        private final Lane lane = port.pick(route);
        private final AtomicBoolean over = new AtomicBoolean();

        Sync(String asked, MonoSink<Void> sink) {
            this.asked = asked;
            this.sink = sink;
        }

        /** On the lane that has ended the last write, if one has: from there it goes without a wake-up. */
        void submit() {
            port.start(lane, this);
        }

        @Override
        public void fill(Request request) {
            request.sync(file.nativeFile(route));
        }

        @Override
        public void ended(@Nullable NativeFailure failure) {
            boolean awaited = over.compareAndSet(false, true);
            if (awaited) {
                if (failure != null) {
                    file.barrier().fail(Failures.sync(asked, failure));
                }
                file.syncs().ended(); // after the failure is known
            }
            file.unpin();
            port.leave();
            if (awaited) {
                signal();
            }
        }

        @Override
        public Port port() {
            return port;
        }

        @Override
        public String asked() {
            return asked;
        }

        @Override
        public void lose(PenstockException why) {
            if (over.compareAndSet(false, true)) {
                file.barrier().fail(why);
                file.syncs().ended();
                signal();
            }
        }

        private void signal() {
            Throwable failure = file.barrier().failure();
            if (failure == null) {
                sink.success();
            } else {
                sink.error(failure);
            }
        }
    }
}
