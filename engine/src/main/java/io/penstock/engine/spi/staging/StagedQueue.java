// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.NativeError;
import io.penstock.engine.host.HostBytes;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.function.Function;
import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * A queue that moves pieces between files and a device through slots. A READ or WRITE has at most a slot's bytes, as
 * the limits of a {@link StagedFile} say.
 *
 * <p>Memory that the processor reaches is read and written by fillers alone: no slot where alignment allows, never a
 * device call. A packed READ that the file cuts short reports the bytes before the cut, those of later pairs
 * excluded.
 *
 * <p><b>Cancellation:</b> a request that waits for a slot or for the executor ends at once, one that a filler or the
 * device has ends with its next step, as CANCELLED unless that was its last.
 *
 * <p><b>Errors:</b> once the device is lost, every request fails with what it said then.
 */
final class StagedQueue implements NativeQueue {

    static final NativeFailure CANCELLED =
            new NativeFailure(new NativeError("staging", 0, "CANCELLED"), NativeFailure.Kind.CANCELLED);

    private final SlotSizes sizes;
    final HostSide host;
    final DeviceSide copies;
    private final SlotPool slots;
    private final FillerPool fillers;
    private final @Nullable ExecutorPump executor; // null: fillers copy
    private final @Nullable ExecutorThread ownThread;

    private final int depth;
    private final Function<Request, Piece> newPiece;
    final Queue<Piece> ready; // for fillers; no stale entries
    private final Queue<Piece> completed;
    private final Doorbell bell = new Doorbell();
    private final ArrayDeque<Piece> arrivals = new ArrayDeque<>(); // the lane's
    private int inFlight; // the lane's

    /**
     * Opens a queue.
     *
     * @param executor which makes all calls of the device, and which other queues of the device, and other calls to it, may
     *     share; the caller closes it after the queue. If null, the queue's fillers do ({@link ThreadRule#MANY}), or a thread of
     *     its own ({@link ThreadRule#ONE})
     * @throws io.penstock.TransientStorageException if there is no memory for slots
     * @throws IllegalArgumentException if the process has another number of fillers than {@code sizes} asks for
     */
    static StagedQueue open(StagingDevice device, HostBytes host, SlotSizes sizes, @Nullable ExecutorPump executor) {
        if (executor != null) {
            return open(device, host, sizes, executor, null);
        }
        return switch (device.threads()) {
            case MANY -> open(device, host, sizes, null, null);
            case ONE -> {
                ExecutorThread thread = ExecutorThread.start("penstock-executor");
                yield open(device, host, sizes, thread.pump(), thread);
            }
            case PUMP -> throw new IllegalArgumentException("the application's thread needs an ExecutorPump");
        };
    }

    private static StagedQueue open(
            StagingDevice device,
            HostBytes host,
            SlotSizes sizes,
            @Nullable ExecutorPump executor,
            @Nullable ExecutorThread ownThread) {
        FillerPool fillers = null;
        try {
            fillers = FillerPool.join(sizes.fillers());
            return new StagedQueue(device, host, sizes, fillers, executor, ownThread);
        } catch (RuntimeException | Error e) {
            if (fillers != null) {
                fillers.leave();
            }
            if (ownThread != null) {
                ownThread.close();
            }
            throw e;
        }
    }

    StagedQueue(
            StagingDevice device,
            HostBytes host,
            SlotSizes sizes,
            FillerPool fillers,
            @Nullable ExecutorPump executor,
            @Nullable ExecutorThread ownThread) {
        this.sizes = sizes;
        this.host = new HostSide(host);
        this.copies = new DeviceSide(device);
        this.fillers = fillers;
        this.executor = executor;
        this.ownThread = ownThread;
        this.ready = new MpmcVarHandleArrayQueue<>(Math.max(2, sizes.depth()));
        this.completed = new MpscVarHandleArrayQueue<>(Math.max(2, sizes.depth()));
        this.depth = sizes.depth();
        this.newPiece = request -> new Piece(this, request);
        this.slots = new SlotPool(device, host, sizes.slots(fillers.size()), sizes.allocatedBytes());
        if (executor != null) {
            executor.spinFor(sizes.spinNanos());
        }
        fillers.add(this);
    }

    // The lane.

    @Override
    public int depth() {
        return depth;
    }

    @Override
    public void enqueue(Request request) {
        Piece piece = piece(request);
        piece.begin();
        plan(piece);
        arrivals.add(piece);
        inFlight++;
    }

    private Piece piece(Request request) {
        return request.attachment(Piece.class, newPiece);
    }

    private void plan(Piece piece) {
        Request request = piece.request;
        if (request.kind() == Request.Kind.SYNC) {
            piece.step = Piece.Step.SYNC;
            return;
        }
        boolean ofFile = !request.isCopy();
        if (request.memory().hostAddress() != 0) {
            piece.step = Piece.Step.HOST;
            piece.needsSlot = ofFile && !host.reachesDirectly(piece);
        } else {
            piece.step = request.kind() == Request.Kind.READ ? Piece.Step.FILL : Piece.Step.COPY;
            piece.needsSlot = ofFile;
        }
        if (piece.needsSlot) {
            Objects.checkIndex(request.bytes(), sizes.slotBytes() + 1);
        }
    }

    @Override
    public void cancel(Request request) {
        Piece piece = piece(request);
        switch (piece.cancel()) {
            case Piece.AWAITS_SLOT -> {
                slots.forget(piece);
                end(piece, CANCELLED);
            }
            case Piece.AWAITS_EXECUTOR -> {
                // Not left to the executor: an application that pumps no more would keep the memory busy for ever.
                Objects.requireNonNull(executor).forget(piece);
                end(piece, CANCELLED);
            }
            default -> {} // the thread that holds it checks
        }
    }

    @Override
    public void turn(long waitNanos) {
        for (Piece piece = arrivals.poll(); piece != null; piece = arrivals.poll()) {
            if (piece.needsSlot) {
                slots.assign(piece);
            } else {
                hand(piece);
            }
        }
        if (!report() && waitNanos != 0 && !spin(waitNanos)) {
            bell.await(waitNanos);
            report();
        }
    }

    /** Looks for a while before the lane sleeps; returns whether something came, if only a ring. */
    private boolean spin(long waitNanos) {
        long most = waitNanos < 0 ? sizes.spinNanos() : Math.min(waitNanos, sizes.spinNanos());
        if (most > 0) {
            long start = System.nanoTime();
            do {
                if (report() || bell.poll()) {
                    return true;
                }
                Thread.onSpinWait();
            } while (System.nanoTime() - start < most);
        }
        return false;
    }

    /** Returns how long a thread that works for it may spin before it sleeps. */
    long spinNanos() {
        return sizes.spinNanos();
    }

    private boolean report() {
        boolean any = false;
        for (Piece piece = completed.poll(); piece != null; piece = completed.poll()) {
            any = true;
            inFlight--;
            piece.clear();
            piece.request.end(piece.moved, piece.failure);
        }
        return any;
    }

    @Override
    public void wake() {
        bell.ring();
    }

    @Override
    public void close() {
        if (inFlight != 0) {
            throw new IllegalStateException(inFlight + " requests are in flight");
        }
        fillers.remove(this);
        if (ownThread != null) {
            ownThread.close();
        }
        slots.close();
    }

    // Whoever holds the piece.

    /** Passes a piece to the thread that does its next step. */
    void hand(Piece piece) {
        ExecutorPump pump = executor;
        boolean toExecutor = piece.step == Piece.Step.COPY && pump != null;
        if (!piece.giveTo(toExecutor ? Piece.AWAITS_EXECUTOR : Piece.AWAITS_FILLER)) {
            end(piece, CANCELLED);
        } else if (toExecutor && pump != null) {
            pump.submit(piece);
        } else {
            ready.add(piece);
            fillers.announce();
        }
    }

    /** Ends a piece that is to be dropped, between two steps; returns whether it was. */
    boolean dropped(Piece piece) {
        NativeFailure lost = copies.lost();
        if (lost == null && !piece.isCancelled()) {
            return false;
        }
        end(piece, lost != null ? lost : CANCELLED);
        return true;
    }

    /**
     * Takes the end of a step, and ends the piece if the step has failed or was the last; returns whether there is another.
     *
     * @param moved the bytes, where the step did not fail
     */
    boolean stepped(Piece piece, long moved) {
        if (piece.failure != null) {
            end(piece, piece.failure);
            return false;
        }
        if (piece.step == Piece.Step.FILL && moved > 0) {
            piece.moved = moved;
            piece.step = Piece.Step.COPY;
            return true;
        }
        if (piece.step == Piece.Step.COPY && piece.request.kind() == Request.Kind.WRITE) {
            piece.step = Piece.Step.DRAIN;
            return true;
        }
        if (piece.step != Piece.Step.COPY) {
            piece.moved = moved;
        }
        end(piece, null);
        return false;
    }

    /** Ends a piece, well if there is no failure: nothing native has its memory or its slot any more. */
    void end(Piece piece, @Nullable NativeFailure failure) {
        Slot slot = piece.giveUpSlot();
        if (slot != null) {
            slots.release(slot);
        }
        piece.failure = failure;
        completed.add(piece); // from here on it is the lane's
        bell.ring();
    }

    boolean fuses() {
        return executor == null;
    }

    int slotsPerFiller() {
        return sizes.slotsPerFiller();
    }

    /** Returns how many requests have not ended; on the lane. */
    int inFlight() {
        return inFlight;
    }

    SlotPool slots() {
        return slots;
    }
}
