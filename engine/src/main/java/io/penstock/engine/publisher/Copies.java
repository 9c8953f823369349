// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.PenstockException;
import io.penstock.engine.queue.IoQueue;
import io.penstock.engine.queue.Port;
import io.penstock.engine.queue.SegmentSteps;
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
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Uploads and downloads: plain copies if the memory is host-accessible, otherwise through a bounce buffer of a path.
 */
public final class Copies {

    private final Port port;

    public Copies(Port port) {
        this.port = port;
    }

    /** As {@link io.penstock.engine.resource.Owner#upload}. */
    public Mono<Long> upload(EngineBuffer buffer, long offset, ByteBuffer from) {
        return port.deliver(Mono.create(sink -> start(new Copy(buffer, offset, from.slice(), Kind.COPY_IN, sink))));
    }

    /** As {@link io.penstock.engine.resource.Owner#download}. */
    public Mono<Long> download(EngineBuffer buffer, long offset, ByteBuffer to) {
        return port.deliver(Mono.create(sink -> start(new Copy(buffer, offset, to.slice(), Kind.COPY_OUT, sink))));
    }

    /** As {@link io.penstock.engine.resource.Owner#downloadPinned}. */
    public Mono<Long> downloadPinned(EngineBuffer buffer, long offset, ByteBuffer to) {
        return Mono.create(sink -> {
            buffer.pins().pinAgain();
            startPinned(new Copy(buffer, offset, to.slice(), Kind.COPY_OUT, sink), port::enterWhileOpen);
        });
    }

    /** Which bytes go where: to the buffer ({@code COPY_IN}) or from it. */
    private record Copy(EngineBuffer buffer, long offset, ByteBuffer bytes, Kind kind, MonoSink<Long> sink) {

        boolean isUpload() {
            return kind == Kind.COPY_IN;
        }

        String description() {
            return (isUpload() ? "upload of " : "download of ") + bytes.limit() + " bytes";
        }
    }

    private void start(Copy copy) {
        if (copy.buffer.pins().tryPin()) {
            startPinned(copy, port::enter);
        } else {
            copy.sink.error(Failures.closed(copy.description(), "the buffer"));
        }
    }

    /**
     * Starts a copy, whose end reverts one pin of the buffer.
     *
     * @param enter keeps the backend open, where that takes long
     */
    private void startPinned(Copy copy, BooleanSupplier enter) {
        EngineBuffer buffer = copy.buffer;
        int length = copy.bytes.limit();
        if (length == 0) {
            buffer.pins().unpin();
            copy.sink.success(0L);
        } else if (buffer.memory().hostAddress() != 0) {
            try {
                move(MemoryView.window(buffer.memory(), copy.offset, length), copy);
            } finally {
                buffer.pins().unpin();
            }
            copy.sink.success((long) length);
        } else if (!enter.getAsBoolean()) {
            buffer.pins().unpin();
            copy.sink.error(Failures.closed(copy.description(), "the backend"));
        } else {
            Staged staged;
            try {
                staged = new Staged(copy);
            } catch (RuntimeException | Error noBuffer) { // one that is thrown would end nothing
                buffer.pins().unpin();
                port.leave();
                copy.sink.error(noBuffer);
                return;
            }
            copy.sink.onCancel(staged::cancel);
            staged.step();
        }
    }

    private static void move(ByteBuffer memory, Copy copy) {
        if (copy.isUpload()) {
            memory.put(copy.bytes.duplicate());
        } else {
            copy.bytes.duplicate().put(memory);
        }
    }

    /** Copies through one bounce buffer, step by step, on an I/O queue. */
    private final class Staged implements SingleRequest {
        private final Copy copy;
        private final IoQueue ioQueue;
        private final DeviceMemory bounce;
        private final AtomicBoolean over = new AtomicBoolean(); // the subscriber was signalled, or has cancelled
        private int done;
        private ByteBuffer part; // of the bytes, for the current step; from here on, I/O queue only
        private ByteBuffer memory; // the bounce buffer's

        Staged(Copy copy) {
            this.copy = copy;
            int general = port.ioPaths().size() - 1;
            this.ioQueue = port.pick(general);
            this.bounce = port.ioPaths().get(general).allocateBounceBuffer(SegmentSteps.BOUNCE_BYTES);
            this.part = copy.bytes;
            this.memory = copy.bytes;
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
                copy.sink.error(e);
            }
        }

        private void next() {
            int step = (int) Math.min(copy.bytes.limit() - done, bounce.bytes());
            part = copy.bytes.slice(done, step);
            memory = MemoryView.window(bounce, 0, step);
            if (copy.isUpload()) {
                memory.put(part.duplicate());
            }
            port.start(ioQueue, this);
        }

        @Override
        public void fill(Request request) {
            request.copy(copy.kind, bounce, 0, part.limit()).memory(copy.buffer.memory(), copy.offset + done);
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
            if (!copy.isUpload()) {
                try {
                    part.put(memory);
                } catch (RuntimeException e) {
                    refused(e);
                    return;
                }
            }
            if (done < copy.bytes.limit()) {
                step();
            } else {
                end(null);
            }
        }

        @Override
        public Port owner() {
            return port;
        }

        @Override
        public String description() {
            return copy.description();
        }

        @Override
        public void lose(PenstockException why) {
            if (over.compareAndSet(false, true)) {
                copy.sink.error(why);
            }
        }

        @Override
        public void refuse(PenstockException why) {
            release();
            lose(why);
        }

        private void release() {
            bounce.free();
            copy.buffer.pins().unpin();
            port.leave();
        }

        private void end(@Nullable NativeFailure failure) {
            release();
            if (!over.compareAndSet(false, true)) {
                return;
            }
            if (failure == null) {
                copy.sink.success((long) done);
            } else {
                copy.sink.error(
                        Failures.copy(description() + " at " + copy.offset + " of " + copy.buffer, failure, done));
            }
        }
    }
}
