// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.order.BlockClaim;
import io.penstock.engine.order.BlockLocks;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A native request in flight, and what it is a step of. One object per tag of a queue, filled again and again; the
 * lane's thread only.
 */
public final class Flight {

    /** Which step of a piece the request is. */
    enum Step {
        /** The request moves the piece itself. */
        BODY,
        /** The blocks around the piece are read into a slot. */
        FILL,
        /** Bytes go between slot and target. */
        COPY,
        /** The blocks are written back from the slot. */
        STORE,
        /** The file gets its exact length back, off the lane: it ends by itself, and cannot be given up. */
        LENGTH,
        /** The request belongs to no transfer (a sync). */
        SINGLE
    }

    /** The request of the step under way. */
    final Request request;

    // What the request is for.
    @Nullable
    OpenTransfer owner;

    @Nullable
    SingleRequest single;

    Step step = Step.BODY;
    int retries;
    boolean inNativeHands;

    // The piece.
    Request.Kind kind = Request.Kind.READ;
    public int pair;
    public int pairCount;
    boolean packed;

    @Nullable
    NativeFile file;

    @Nullable
    DeviceMemory memory;

    public long fileOffset;
    long memoryOffset;
    public long bytes;
    long done; // by the step under way
    public long moved; // for good, between file and target

    // The blocks around it, where it goes by a slot.
    boolean merges; // a write that does not fill its blocks
    boolean lengthens; // a merge whose cover ends beyond the end of the file
    long coverOffset;
    long coverBytes;
    long coverDone;
    long finalLength;

    @Nullable
    DeviceMemory slot;

    @Nullable
    BlockLocks locks; // that claim is locked in, or waits in

    boolean waitsForLock;
    BlockClaim claim;

    // Where the owner has a place in the device's order; the queue says from any thread that the request has its own.
    private @Nullable FenceOrder order;
    private final AtomicBoolean stands = new AtomicBoolean();
    private final Runnable inOrder = this::standsInOrder;

    private final Lane lane;

    public Flight(int tag, Lane lane) {
        this.request = new Request(tag, lane);
        this.lane = lane;
        this.claim = newClaim();
        clear();
    }

    /** Makes a claim whose grant is this flight's only while it is the flight's claim: one given up may be called late. */
    final BlockClaim newClaim() {
        BlockClaim[] self = new BlockClaim[1];
        self[0] = new BlockClaim(() -> lane.post(() -> {
            if (claim == self[0] && waitsForLock) {
                lane.granted(this);
            }
        }));
        return self[0];
    }

    /** Starts a piece of {@code transfer}. */
    void begin(OpenTransfer transfer) {
        owner = transfer;
        Admission terms = transfer.admission();
        FenceOrder place = terms == null ? null : terms.order();
        order = place;
        if (place != null) {
            stands.set(false);
            place.pieceStarted();
        }
    }

    /** Has the last request of the piece say when it stands in the device's order. */
    void joinOrder() {
        FenceOrder place = order;
        if (place != null) {
            // A write is behind the fence when the file has it, and a packed piece may be started again pair by pair.
            request.joins(place.point(), kind == Request.Kind.READ && !packed ? inOrder : null);
        }
    }

    /** Called when the piece is stream-ordered, or has ended. */
    void standsInOrder() {
        FenceOrder place = order;
        if (place != null && stands.compareAndSet(false, true)) {
            place.stands();
        }
    }

    /** Returns whether a read from {@code start} on came to {@code done} only, by {@code moved}, for its file ends there. */
    boolean endsFileAt(long start, long done, long moved) {
        if (moved == 0) {
            return true;
        }
        Limits limits = file().limits();
        if ((start + done) % limits.fileAlignment() == 0 && done % limits.memoryAlignment() == 0) {
            return false; // to ask for the rest tells
        }
        try {
            // To ask for the rest would be refused, and a read that is interrupted may end anywhere.
            return file().size() <= start + done;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Returns from where a step goes on that began at {@code before} and came to {@code done}: where file and memory
     * are aligned, so that some bytes may have to go again. Counts a retry if that is no progress.
     */
    long resumeAt(long before, long done) {
        Limits limits = file().limits();
        long from = done - done % Math.max(limits.fileAlignment(), limits.memoryAlignment());
        retries = from > before ? 0 : retries + 1;
        return from;
    }

    OpenTransfer owner() {
        return present(owner);
    }

    NativeFile file() {
        return present(file);
    }

    DeviceMemory memory() {
        return present(memory);
    }

    DeviceMemory slot() {
        return present(slot);
    }

    void clear() {
        request.clear();
        owner = null;
        single = null;
        step = Step.BODY;
        retries = 0;
        inNativeHands = false;
        packed = false;
        merges = false;
        lengthens = false;
        file = null;
        memory = null;
        done = 0;
        moved = 0;
        coverDone = 0;
        finalLength = -1;
        slot = null;
        locks = null;
        waitsForLock = false;
        order = null;
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("this flight has no such part");
        }
        return value;
    }
}
