// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.NativeError;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.staging.Doorbell;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Has the GPU read the page cache, through mappings that are registered with the driver. The lane makes the copies
 * itself, asynchronously, and looks for their ends; segments that are not registered yet come from
 * {@link Registrations}.
 *
 * <p>The stamp of the file is looked at before the first byte of a command is asked for and after the last has arrived
 * (rule 207). A command that is asked to stop ends with the copy that is under way.
 */
final class MappedQueue implements NativeQueue {

    private static final long CANCELLED = Long.MIN_VALUE;
    private static final long CHANGED = Long.MIN_VALUE + 1;
    private static final long NO_READ = Long.MIN_VALUE + 2;
    private static final long OWN_END = Long.MIN_VALUE + 16;

    private final Registrations registrations;
    private final long spinNanos;
    private final MappedStreams streams;
    private final MappedCopy[] copies;
    private final StampReader stamps = new StampReader();
    private final Doorbell bell = new Doorbell();
    private final Queue<MappedCopy> arrived = new ConcurrentLinkedQueue<>(); // from registrars

    // The lane's.
    private final ArrayDeque<MappedCopy> fresh = new ArrayDeque<>();
    private final ArrayDeque<MappedCopy> ended = new ArrayDeque<>();

    /**
     * Opens one.
     *
     * @param depth the commands that it takes at once
     * @param spinNanos how long copies are looked at again and again, if longer than usual
     * @throws io.penstock.PenstockException with the driver's answer
     */
    MappedQueue(CudaContext context, Registrations registrations, int depth, long spinNanos) {
        this.registrations = registrations;
        this.spinNanos = spinNanos;
        this.streams = MappedStreams.open(context);
        this.copies = new MappedCopy[depth];
        for (int id = 0; id < depth; id++) {
            copies[id] = new MappedCopy(id, arrived, bell::ring);
        }
    }

    @Override
    public int depth() {
        return copies.length;
    }

    @Override
    public void enqueue(int id, Command command) {
        MappedCopy copy = copies[id];
        if (command.kind() == Command.Kind.READ) {
            copy.load(command);
            fresh.add(copy);
        } else {
            end(copy, NO_READ);
        }
    }

    @Override
    public void cancel(int id) {
        copies[id].cancelled = true;
    }

    @Override
    public void turn(long waitNanos, Completions completions) {
        if (work(completions) || waitNanos == 0) {
            return;
        }
        if (!streams.isBusy()) {
            bell.await(waitNanos);
        } else if (!streams.spin(waitNanos < 0 ? spinNanos : Math.min(spinNanos, waitNanos), bell)) {
            bell.await(waitNanos < 0 ? MappedStreams.NAP_NANOS : Math.min(MappedStreams.NAP_NANOS, waitNanos));
        }
        work(completions);
    }

    private boolean work(Completions completions) {
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
                end(copy, changed ? CHANGED : CudaCall.MEM_HOST_REGISTER.failed(result));
            }
        }
        streams.settle(this::copied);
        boolean any = !ended.isEmpty();
        for (MappedCopy copy = ended.poll(); copy != null; copy = ended.poll()) {
            completions.completed(copy.id, copy.result);
        }
        return any;
    }

    private void begin(MappedCopy copy) {
        if (copy.cancelled) {
            end(copy, CANCELLED);
        } else if (!copy.file().isUnchanged(stamps)) {
            end(copy, CHANGED);
        } else if (copy.bytes == 0) {
            end(copy, 0);
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
        long failed = copy.cancelled ? CANCELLED : streams.start(copy);
        if (failed != 0) {
            registrations.done(copy.segment());
            end(copy, failed);
        }
    }

    /** Takes the end of the copy of one segment. */
    private void copied(MappedCopy copy, long failed) {
        registrations.done(copy.segment());
        copy.done += copy.part;
        if (failed != 0) {
            end(copy, failed);
        } else if (!copy.file().isUnchanged(stamps)) {
            end(copy, CHANGED);
        } else if (copy.done == copy.bytes) {
            end(copy, copy.bytes);
        } else if (copy.cancelled) {
            end(copy, CANCELLED);
        } else {
            next(copy);
        }
    }

    private void end(MappedCopy copy, long result) {
        copy.clear();
        copy.result = result;
        ended.add(copy);
    }

    @Override
    public void wake() {
        bell.ring();
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        if (result >= OWN_END) {
            return CudaCall.failure(result);
        }
        if (result == CANCELLED) {
            return own("mapped copy", "CANCELLED", NativeFailure.Kind.CANCELLED);
        }
        if (result == CHANGED) {
            return own("statx", "FILE_CHANGED_WHILE_OPENED_IMMUTABLE", NativeFailure.Kind.PERMANENT);
        }
        return own("mapped copy", "READS_ONLY", NativeFailure.Kind.PERMANENT);
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
