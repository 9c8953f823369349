// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.PenstockException;
import io.penstock.engine.queue.IoQueue;
import io.penstock.engine.queue.Port;
import io.penstock.engine.queue.SingleRequest;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * A sync as a barrier: starts when every write accepted before it has ended, on any I/O queue (then rule 403 applies).
 */
public final class MonoSync extends Mono<Void> {

    private final Port port;
    private final EngineFile file;

    public MonoSync(Port port, EngineFile file) {
        this.port = port;
        this.file = file;
    }

    @Override
    public void subscribe(CoreSubscriber<? super Void> actual) {
        port.deliver(Mono.<Void>create(this::start)).subscribe(actual);
    }

    private void start(MonoSink<Void> sink) {
        String description = "sync of " + file.path();
        if (!file.tryPin()) {
            sink.error(Failures.closed(description, "the file"));
            return;
        }
        if (!port.enter()) {
            file.unpin();
            sink.error(Failures.closed(description, "the backend"));
            return;
        }
        file.barrier().sync(() -> file.syncs().enter(() -> new Sync(description, sink).submit()));
    }

    private final class Sync implements SingleRequest {

        private final String description;
        private final MonoSink<Void> sink;
        private final int ioPath = file.lastPath();
        private final IoQueue ioQueue = port.pick(ioPath);
        private final AtomicBoolean over = new AtomicBoolean();
        private @Nullable PenstockException passing; // nothing was started: a later sync may succeed

        Sync(String description, MonoSink<Void> sink) {
            this.description = description;
            this.sink = sink;
        }

        /** Runs on the I/O queue that ended the last write, if there was one: this saves a wake-up. */
        void submit() {
            AsyncFile async = file.async();
            if (async == null) {
                port.start(ioQueue, this);
            } else if (file.barrier().failure() != null) {
                ended(null); // with that failure; an object would appear although its sync has failed
            } else {
                async.sync(this::ended);
            }
        }

        @Override
        public @Nullable Object lane() {
            return file.nativeFile(ioPath).lane();
        }

        @Override
        public void fill(Request request) {
            request.sync(file.nativeFile(ioPath));
        }

        @Override
        public void ended(@Nullable NativeFailure failure) {
            boolean awaited = over.compareAndSet(false, true);
            if (awaited) {
                if (failure != null && failure.kind() == NativeFailure.Kind.TRANSIENT && file.isAsync()) {
                    passing = failure.exception(description);
                } else if (failure != null) {
                    file.barrier().fail(Failures.sync(description, failure));
                }
                file.syncs().ended(); // after the failure is recorded
            }
            release();
            if (awaited) {
                signal();
            }
        }

        private void release() {
            file.unpin();
            port.leave();
        }

        @Override
        public Port owner() {
            return port;
        }

        @Override
        public String description() {
            return description;
        }

        @Override
        public void lose(PenstockException why) {
            if (over.compareAndSet(false, true)) {
                file.barrier().fail(why);
                file.syncs().ended();
                signal();
            }
        }

        @Override
        public void refuse(PenstockException why) {
            release();
            lose(why);
        }

        private void signal() {
            Throwable failure = passing == null ? file.barrier().failure() : passing;
            if (failure == null) {
                sink.success();
            } else {
                sink.error(failure);
            }
        }
    }
}
