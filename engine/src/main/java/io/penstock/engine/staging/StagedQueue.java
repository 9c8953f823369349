// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.StagingDevice;
import io.penstock.engine.spi.ThreadRule;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
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
 * <p><b>Cancellation:</b> a command that waits for a slot or for the executor ends at once, one that a filler or the
 * device has ends with its next step, as CANCELLED unless that was its last.
 *
 * <p><b>Errors:</b> once the device is lost, every command fails with what it said then.
 */
public final class StagedQueue implements NativeQueue {

    private final StagingDevice device;
    private final HostBytes hostBytes;
    private final SlotSizes sizes;
    final HostSide host;
    final DeviceSide copies;
    private final SlotPool slots;
    private final FillerPool fillers;
    private final @Nullable ExecutorPump executor; // null: fillers copy
    private final @Nullable ExecutorThread ownThread;

    private final Piece[] pieces;
    final Queue<Piece> ready; // for fillers; no stale entries
    private final Queue<Piece> completed;
    private final Doorbell bell = new Doorbell();
    private final ArrayDeque<Piece> arrivals = new ArrayDeque<>(); // the lane's
    private int inFlight; // the lane's

    /**
     * Opens a queue with an executor of its own: its fillers ({@link ThreadRule#MANY}) or a thread
     * ({@link ThreadRule#ONE}).
     *
     * @throws io.penstock.TransientStorageException if there is no memory for slots
     * @throws IllegalArgumentException if the process has another number of fillers than {@code sizes} asks for
     */
    public static StagedQueue open(StagingDevice device, HostBytes host, SlotSizes sizes) {
        return switch (device.threads()) {
            case MANY -> open(device, host, sizes, null, null);
            case ONE -> {
                ExecutorThread thread = ExecutorThread.start("penstock-executor");
                yield open(device, host, sizes, thread.pump(), thread);
            }
            case PUMP -> throw new IllegalArgumentException("the application's thread needs an ExecutorPump");
        };
    }

    /**
     * Opens a queue whose device calls are made by {@code executor}, which other queues of the device, and other
     * calls to it, may share; the caller closes it after the queue.
     */
    public static StagedQueue open(StagingDevice device, HostBytes host, SlotSizes sizes, ExecutorPump executor) {
        return open(device, host, sizes, executor, null);
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
        this.device = device;
        this.hostBytes = host;
        this.sizes = sizes;
        this.host = new HostSide(host);
        this.copies = new DeviceSide(device);
        this.fillers = fillers;
        this.executor = executor;
        this.ownThread = ownThread;
        this.ready = new MpmcVarHandleArrayQueue<>(Math.max(2, sizes.depth()));
        this.completed = new MpscVarHandleArrayQueue<>(Math.max(2, sizes.depth()));
        this.pieces = new Piece[sizes.depth()];
        for (int id = 0; id < pieces.length; id++) {
            pieces[id] = new Piece(this, id);
        }
        this.slots = new SlotPool(device, host, sizes.slots(fillers.size()), sizes.allocatedBytes());
        if (executor != null) {
            executor.spinFor(sizes.spinNanos());
        }
        fillers.add(this);
    }

    // The lane.

    @Override
    public int depth() {
        return pieces.length;
    }

    @Override
    public void enqueue(int id, Command command) {
        Piece piece = pieces[id];
        piece.load(command);
        plan(piece);
        arrivals.add(piece);
        inFlight++;
    }

    private void plan(Piece piece) {
        if (piece.kind == Command.Kind.SYNC) {
            piece.step = Piece.Step.SYNC;
            return;
        }
        boolean ofFile = piece.kind == Command.Kind.READ || piece.kind == Command.Kind.WRITE;
        if (piece.memory().hostAddress() != 0) {
            piece.step = Piece.Step.HOST;
            piece.needsSlot = ofFile && !host.reachesDirectly(piece);
        } else {
            piece.step = piece.kind == Command.Kind.READ ? Piece.Step.FILL : Piece.Step.COPY;
            piece.needsSlot = ofFile;
        }
        if (piece.needsSlot) {
            Objects.checkIndex(piece.bytes, sizes.slotBytes() + 1);
        }
    }

    @Override
    public void cancel(int id) {
        Piece piece = pieces[id];
        switch (piece.cancel()) {
            case Piece.AWAITS_SLOT -> {
                slots.forget(piece);
                complete(piece, Results.CANCELLED);
            }
            case Piece.AWAITS_EXECUTOR -> {
                // Not left to the executor: an application that pumps no more would keep the memory busy for ever.
                Objects.requireNonNull(executor).forget(piece);
                complete(piece, Results.CANCELLED);
            }
            default -> {} // whoever holds it will look
        }
    }

    @Override
    public void turn(long waitNanos, Completions completions) {
        for (Piece piece = arrivals.poll(); piece != null; piece = arrivals.poll()) {
            if (piece.needsSlot) {
                slots.assign(piece);
            } else {
                hand(piece);
            }
        }
        if (!report(completions) && waitNanos != 0 && !spin(waitNanos, completions)) {
            bell.await(waitNanos);
            report(completions);
        }
    }

    /** Looks for a while before the lane sleeps; returns whether something came, if only a ring. */
    private boolean spin(long waitNanos, Completions completions) {
        long most = waitNanos < 0 ? sizes.spinNanos() : Math.min(waitNanos, sizes.spinNanos());
        if (most > 0) {
            long start = System.nanoTime();
            do {
                if (report(completions) || bell.poll()) {
                    return true;
                }
                Thread.onSpinWait();
            } while (System.nanoTime() - start < most);
        }
        return false;
    }

    /** Returns how long whoever works for it may look for more before he sleeps. */
    long spinNanos() {
        return sizes.spinNanos();
    }

    private boolean report(Completions completions) {
        boolean any = false;
        for (Piece piece = completed.poll(); piece != null; piece = completed.poll()) {
            any = true;
            inFlight--;
            piece.clear();
            completions.completed(piece.id, piece.moved);
        }
        return any;
    }

    @Override
    public void wake() {
        bell.ring();
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        if (Results.isThrown(result)) {
            Throwable thrown = Objects.requireNonNull(pieces[Results.thrower(result)].thrown);
            return Results.isThrownByHost(result) ? hostBytes.failure(kind, thrown) : Results.ofDevice(thrown);
        }
        if (Results.isOwn(result)) {
            return Results.own(result);
        }
        return Results.isHost(result) ? hostBytes.failure(kind, Results.toHost(result)) : device.failure(kind, result);
    }

    @Override
    public void close() {
        if (inFlight != 0) {
            throw new IllegalStateException(inFlight + " commands are in flight");
        }
        fillers.remove(this);
        if (ownThread != null) {
            ownThread.close();
        }
        slots.close();
    }

    // Whoever holds the piece.

    /** Gives a piece to whoever does its next step. */
    void hand(Piece piece) {
        ExecutorPump pump = executor;
        boolean toExecutor = piece.step == Piece.Step.COPY && pump != null;
        if (!piece.giveTo(toExecutor ? Piece.AWAITS_EXECUTOR : Piece.AWAITS_FILLER)) {
            complete(piece, Results.CANCELLED);
        } else if (toExecutor && pump != null) {
            pump.submit(piece);
        } else {
            ready.add(piece);
            fillers.announce();
        }
    }

    /** Ends a piece that is to be dropped, between two steps; returns whether it was. */
    boolean dropped(Piece piece) {
        long lost = copies.lost(piece);
        if (lost == 0 && !piece.isCancelled()) {
            return false;
        }
        complete(piece, lost != 0 ? lost : Results.CANCELLED);
        return true;
    }

    /** Takes the result of a step, and ends the piece unless there is another; returns whether there is. */
    boolean stepped(Piece piece, long result) {
        if (result < 0) {
            complete(piece, result);
            return false;
        }
        if (piece.step == Piece.Step.FILL && result > 0) {
            piece.moved = result;
            piece.step = Piece.Step.COPY;
            return true;
        }
        if (piece.step == Piece.Step.COPY && piece.kind == Command.Kind.WRITE) {
            piece.step = Piece.Step.DRAIN;
            return true;
        }
        complete(piece, piece.step == Piece.Step.COPY ? piece.moved : result);
        return false;
    }

    /** Ends a piece: nothing native has its memory or its slot any more. */
    void complete(Piece piece, long result) {
        Slot slot = piece.giveUpSlot();
        if (slot != null) {
            slots.release(slot);
        }
        piece.moved = result;
        completed.add(piece); // from here on it is the lane's
        bell.ring();
    }

    boolean fuses() {
        return executor == null;
    }

    int slotsPerFiller() {
        return sizes.slotsPerFiller();
    }

    SlotPool slots() {
        return slots;
    }
}
