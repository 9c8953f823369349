// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.mapped;

import io.penstock.NativeError;
import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.mapped.FileMapping.Segment;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Copies from the page cache to the GPU, through mappings registered with the driver. The I/O queue starts the copies
 * asynchronously and polls for their completion; segments that are not registered yet come from {@link Registrations}.
 *
 * <p>The file's stamp is checked before the first byte of a request is copied and after the last has arrived (rule
 * 207). A cancelled request ends with the copy in progress.
 */
final class MappedQueue implements NativeQueue {

    private static final NativeFailure CANCELLED = own("mapped copy", "CANCELLED", NativeFailure.Kind.CANCELLED);
    private static final NativeFailure CHANGED =
            own("statx", "FILE_CHANGED_WHILE_OPENED_IMMUTABLE", NativeFailure.Kind.PERMANENT);
    private static final NativeFailure NO_READ = own("mapped copy", "READS_ONLY", NativeFailure.Kind.PERMANENT);

    private final Registrations registrations;
    private final long spinNanos;
    private final MappedStreams streams;
    private final int depth;
    private final Function<Request, MappedCopy> newCopy;
    private final StampReader stamps = new StampReader();
    private final Wakeup wakeup = new Wakeup();
    private final Queue<MappedCopy> arrived = new ConcurrentLinkedQueue<>(); // from registrars

    // The I/O queue's.
    private final ArrayDeque<MappedCopy> fresh = new ArrayDeque<>();
    private final ArrayDeque<MappedCopy> ended = new ArrayDeque<>();

    /**
     * Opens a queue.
     *
     * @param depth the number of requests that it accepts at once
     * @param spinNanos how long copies are polled without pause, if longer than the default
     * @throws io.penstock.PenstockException with the driver's answer
     */
    MappedQueue(GpuContext context, Registrations registrations, int depth, long spinNanos) {
        this.registrations = registrations;
        this.spinNanos = spinNanos;
        this.streams = MappedStreams.open(context);
        this.depth = depth;
        this.newCopy = request -> new MappedCopy(request, arrived, wakeup::wake);
    }

    @Override
    public int depth() {
        return depth;
    }

    @Override
    public void enqueue(Request request) {
        MappedCopy copy = copy(request);
        if (request.kind() == Request.Kind.READ) {
            copy.begin();
            fresh.add(copy);
        } else {
            end(copy, NO_READ);
        }
    }

    private MappedCopy copy(Request request) {
        return request.attachment(MappedCopy.class, newCopy);
    }

    @Override
    public void cancel(Request request) {
        copy(request).cancelled = true;
    }

    @Override
    public void turn(long waitNanos) {
        if (work() || waitNanos == 0) {
            return;
        }
        if (!streams.isBusy()) {
            wakeup.await(waitNanos);
        } else if (!streams.spin(waitNanos < 0 ? spinNanos : Math.min(spinNanos, waitNanos), wakeup)) {
            wakeup.await(waitNanos < 0 ? MappedStreams.NAP_NANOS : Math.min(MappedStreams.NAP_NANOS, waitNanos));
        }
        work();
    }

    private boolean work() {
        for (MappedCopy copy = fresh.poll(); copy != null; copy = fresh.poll()) {
            begin(copy);
        }
        for (MappedCopy copy = arrived.poll(); copy != null; copy = arrived.poll()) {
            int result = copy.registered();
            if (result == DriverApi.SUCCESS) {
                start(copy);
            } else {
                // The pages of a truncated file cannot be read.
                boolean changed = !copy.file().isUnchanged(stamps);
                end(copy, changed ? CHANGED : streams.driver().failure("memHostRegister", result));
            }
        }
        streams.settle(this::copied);
        boolean any = !ended.isEmpty();
        for (MappedCopy copy = ended.poll(); copy != null; copy = ended.poll()) {
            copy.request.end(copy.bytes, copy.failure);
        }
        return any;
    }

    private void begin(MappedCopy copy) {
        if (copy.cancelled) {
            end(copy, CANCELLED);
        } else if (!copy.file().isUnchanged(stamps)) {
            end(copy, CHANGED);
        } else if (copy.bytes == 0) {
            end(copy, null);
        } else {
            next(copy);
        }
    }

    /** Continues with the segment that holds the next byte. */
    private void next(MappedCopy copy) {
        FileMapping mapping = copy.file().mapping();
        Segment segment = mapping.at(copy.from());
        copy.segment = segment;
        boolean there = registrations.use(segment, copy);
        registrations.runAhead(segment);
        if (there) {
            start(copy);
        }
    }

    private void start(MappedCopy copy) {
        NativeFailure failure = copy.cancelled ? CANCELLED : streams.start(copy);
        if (failure != null) {
            registrations.done(copy.segment());
            end(copy, failure);
        }
    }

    /** Handles the completion of one segment's copy. */
    private void copied(MappedCopy copy, @Nullable NativeFailure failure) {
        registrations.done(copy.segment());
        copy.done += copy.part;
        if (failure != null) {
            end(copy, failure);
        } else if (!copy.file().isUnchanged(stamps)) {
            end(copy, CHANGED);
        } else if (copy.done == copy.bytes) {
            end(copy, null);
        } else if (copy.cancelled) {
            end(copy, CANCELLED);
        } else {
            next(copy);
        }
    }

    /** Completes a read, successfully if there is no failure. */
    private void end(MappedCopy copy, @Nullable NativeFailure failure) {
        copy.segment = null;
        copy.failure = failure;
        ended.add(copy);
    }

    @Override
    public Wakeup wakeup() {
        return wakeup;
    }

    private static NativeFailure own(String call, String symbol, NativeFailure.Kind kind) {
        return new NativeFailure(new NativeError(call, 0, symbol), kind);
    }

    @Override
    public void close() {
        streams.close();
        stamps.close();
    }
}
