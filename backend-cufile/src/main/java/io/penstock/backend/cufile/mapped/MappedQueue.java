// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.mapped;

import io.penstock.NativeError;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.backend.cufile.mapped.pages.FileMapping;
import io.penstock.backend.cufile.mapped.pages.FileMapping.Segment;
import io.penstock.backend.cufile.mapped.pages.Registrations;
import io.penstock.backend.cufile.mapped.pages.StampReader;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.Doorbell;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Has the GPU read the page cache, through mappings that are registered with the driver. The lane makes the copies
 * itself, asynchronously, and looks for their ends; segments that are not registered yet come from
 * {@link Registrations}.
 *
 * <p>The stamp of the file is looked at before the first byte of a request is asked for and after the last has arrived
 * (rule 207). A request that is asked to stop ends with the copy that is under way.
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
    private final Doorbell bell = new Doorbell();
    private final Queue<MappedCopy> arrived = new ConcurrentLinkedQueue<>(); // from registrars

    // The lane's.
    private final ArrayDeque<MappedCopy> fresh = new ArrayDeque<>();
    private final ArrayDeque<MappedCopy> ended = new ArrayDeque<>();

    /**
     * Opens one.
     *
     * @param depth the requests that it takes at once
     * @param spinNanos how long copies are looked at again and again, if longer than usual
     * @throws io.penstock.PenstockException with the driver's answer
     */
    MappedQueue(CudaContext context, Registrations registrations, int depth, long spinNanos) {
        this.registrations = registrations;
        this.spinNanos = spinNanos;
        this.streams = MappedStreams.open(context);
        this.depth = depth;
        this.newCopy = request -> new MappedCopy(request, arrived, bell::ring);
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
            bell.await(waitNanos);
        } else if (!streams.spin(waitNanos < 0 ? spinNanos : Math.min(spinNanos, waitNanos), bell)) {
            bell.await(waitNanos < 0 ? MappedStreams.NAP_NANOS : Math.min(MappedStreams.NAP_NANOS, waitNanos));
        }
        work();
    }

    private boolean work() {
        for (MappedCopy copy = fresh.poll(); copy != null; copy = fresh.poll()) {
            begin(copy);
        }
        for (MappedCopy copy = arrived.poll(); copy != null; copy = arrived.poll()) {
            int result = copy.registered();
            if (result == CudaError.SUCCESS) {
                start(copy);
            } else {
                // A file that was cut short has pages that do not come.
                boolean changed = !copy.file().isUnchanged(stamps);
                end(copy, changed ? CHANGED : CudaFailure.of("cuMemHostRegister", result));
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

    /** Goes on to the segment with the next byte. */
    private void next(MappedCopy copy) {
        FileMapping mapping = copy.file().mapping();
        Segment segment = mapping.at(copy.fileOffset + copy.done);
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

    /** Takes the end of the copy of one segment. */
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

    /** Ends a read, well if there is no failure. */
    private void end(MappedCopy copy, @Nullable NativeFailure failure) {
        copy.clear();
        copy.failure = failure;
        ended.add(copy);
    }

    @Override
    public void wake() {
        bell.ring();
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
