// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.PenstockException;
import io.penstock.engine.queue.Bounces;
import io.penstock.engine.queue.IoQueue;
import io.penstock.engine.queue.Port;
import io.penstock.engine.queue.SingleRequest;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.resource.MemoryView;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Request.Kind;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/**
 * Uploads and downloads: plain copies if the memory is host-accessible, otherwise through a bounce buffer of a path.
 */
public final class Copies {

    private final Port port;

    public Copies(Port port) {
        this.port = port;
    }

    public Mono<Long> copy(EngineBuffer buffer, long offset, ByteBuffer bytes, boolean up) {
        Mono<Long> copied = Mono.<Long>create(sink -> start(buffer, offset, bytes.slice(), up, false, sink));
        return copied.publishOn(port.isDirectDelivery() ? Schedulers.immediate() : port.scheduler());
    }

    /** As {@link io.penstock.engine.resource.Owner#download}. */
    public Mono<Long> download(EngineBuffer buffer, long offset, ByteBuffer to) {
        return Mono.create(sink -> start(buffer, offset, to.slice(), false, true, sink));
    }

    /**
     * Starts a copy.
     *
     * @param held whether the caller holds a pin of the buffer and keeps the backend open, until the sink is signalled
     */
    private void start(
            EngineBuffer buffer, long offset, ByteBuffer bytes, boolean up, boolean held, MonoSink<Long> sink) {
        String description = (up ? "upload of " : "download of ") + bytes.remaining() + " bytes";
        if (held) {
            buffer.pins().pinAgain();
        } else if (!buffer.pins().tryPin()) {
            sink.error(Failures.closed(description, "the buffer"));
            return;
        }
        long length = bytes.remaining();
        long host = buffer.memory().hostAddress();
        if (length == 0) {
            buffer.pins().unpin();
            sink.success(0L);
        } else if (host != 0) {
            ByteBuffer memory = MemoryView.window(buffer.memory(), offset, (int) length);
            try {
                move(memory, bytes, up);
            } finally {
                buffer.pins().unpin();
            }
            sink.success(length);
        } else if (!(held ? port.enterAgain() : port.enter())) {
            buffer.pins().unpin();
            sink.error(Failures.closed(description, "the backend"));
        } else {
            Staged staged;
            try {
                staged = new Staged(buffer, offset, bytes, up, sink, description);
            } catch (RuntimeException | Error noBuffer) { // one that is thrown would end nothing
                buffer.pins().unpin();
                port.leave();
                sink.error(noBuffer);
                return;
            }
            sink.onCancel(staged::cancel);
            staged.step();
        }
    }

    private static void move(ByteBuffer memory, ByteBuffer bytes, boolean up) {
        if (up) {
            memory.put(bytes.duplicate());
        } else {
            bytes.duplicate().put(memory);
        }
    }

    /** Copies through one bounce buffer, step by step, on an I/O queue. */
    private final class Staged implements SingleRequest {
        private final EngineBuffer buffer;
        private final long offset;
        private final ByteBuffer bytes;
        private final boolean up;
        private final MonoSink<Long> sink;
        private final String description;
        private final IoQueue ioQueue;
        private final DeviceMemory bounce;
        private final AtomicBoolean over = new AtomicBoolean(); // the subscriber was signalled, or has cancelled
        private int done;
        private ByteBuffer part; // of the bytes, for the current step; from here on, I/O queue only
        private ByteBuffer memory; // the bounce buffer's

        Staged(
                EngineBuffer buffer,
                long offset,
                ByteBuffer bytes,
                boolean up,
                MonoSink<Long> sink,
                String description) {
            this.buffer = buffer;
            this.offset = offset;
            this.bytes = bytes;
            this.up = up;
            this.sink = sink;
            this.description = description;
            int general = port.ioPaths().size() - 1;
            this.ioQueue = port.pick(general);
            this.bounce = port.ioPaths().get(general).allocateBounceBuffer(Bounces.BOUNCE_BYTES);
            this.part = bytes;
            this.memory = bytes;
        }

        /** Takes the next step; ends the copy if the application's buffer does not permit it. */
        void step() {
            try {
                next();
            } catch (RuntimeException e) {
                refused(e);
            }
        }

        /** Takes no further step: the subscriber may free or reuse the bytes. */
        private void cancel() {
            over.set(true);
        }

        private void refused(RuntimeException e) {
            release();
            if (over.compareAndSet(false, true)) {
                sink.error(e);
            }
        }

        private void next() {
            int step = (int) Math.min(bytes.limit() - done, bounce.bytes());
            part = bytes.slice(done, step);
            memory = MemoryView.window(bounce, 0, step);
            if (up) {
                memory.put(part.duplicate());
            }
            port.start(ioQueue, this);
        }

        @Override
        public void fill(Request request) {
            request.copy(up ? Kind.COPY_IN : Kind.COPY_OUT, bounce, 0, part.limit())
                    .memory(buffer.memory(), offset + done);
        }

        @Override
        public void ended(@Nullable NativeFailure failure) {
            if (failure != null) {
                end(failure);
                return;
            }
            if (over.get()) {
                end(null); // abandoned or cancelled: the device has released the buffer
                return;
            }
            done += part.limit();
            if (!up) {
                try {
                    part.put(memory);
                } catch (RuntimeException e) {
                    refused(e);
                    return;
                }
            }
            if (done < bytes.limit()) {
                step();
            } else {
                end(null);
            }
        }

        @Override
        public Port port() {
            return port;
        }

        @Override
        public String description() {
            return description;
        }

        @Override
        public void lose(PenstockException why) {
            if (over.compareAndSet(false, true)) {
                sink.error(why);
            }
        }

        @Override
        public void refuse(PenstockException why) {
            release();
            lose(why);
        }

        private void release() {
            bounce.free();
            buffer.pins().unpin();
            port.leave();
        }

        private void end(@Nullable NativeFailure failure) {
            release();
            if (!over.compareAndSet(false, true)) {
                return;
            }
            if (failure == null) {
                sink.success((long) done);
            } else {
                sink.error(Failures.copy(description + " at " + offset + " of " + buffer, failure, done));
            }
        }
    }
}
