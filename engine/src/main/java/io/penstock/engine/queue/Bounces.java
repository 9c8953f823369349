// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Transfer;
import io.penstock.engine.order.BlockLocks;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.resource.MemoryView;
import io.penstock.engine.resource.Offload;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Request.Kind;
import io.penstock.engine.spi.Route;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Takes a piece through its steps: straight, or, where its edges do not fit the blocks of the file, through a slot.
 *
 * <p>A read fills the slot with the blocks and copies the bytes asked for. A write reads the blocks, merges, and writes
 * them back, under a lock against every other write to them (rule 206). The lock is taken before the slot, and nothing
 * waits for a lock while it holds a slot (rule 304). The lane's thread only.
 */
public final class Bounces {

    /** The bytes of a slot, and so the most that one bounced piece takes. */
    public static final long SLOT_BYTES = 256 << 10;

    private static final class Pool {
        final ArrayDeque<DeviceMemory> free = new ArrayDeque<>();
        int allocated;
    }

    private final Lane lane;
    private final int slots; // of one route
    private final Map<Route, Pool> pools = new HashMap<>();
    private final ArrayDeque<Flight> waitingForSlot = new ArrayDeque<>();

    Bounces(Lane lane, int slots) {
        this.lane = lane;
        this.slots = slots;
    }

    /** Starts a piece. */
    void begin(Flight flight) {
        boolean write = flight.kind == Kind.WRITE;
        if (write && !lock(flight)) {
            return; // granted() continues
        }
        locked(flight);
    }

    private boolean lock(Flight flight) {
        BlockLocks locks = flight.owner().file(flight.pair).locks();
        if (!flight.merges) {
            flight.claim.shared(flight.fileOffset, flight.bytes);
        } else {
            flight.claim.exclusive(flight.coverOffset, exclusiveBytes(flight));
        }
        flight.locks = locks;
        flight.waitsForLock = !locks.lock(flight.claim);
        return !flight.waitsForLock;
    }

    /** Continues a piece that waited for its lock. */
    void granted(Flight flight) {
        flight.waitsForLock = false;
        locked(flight);
    }

    /**
     * Beyond the end of the file the claim has no end: cutting the file to its exact length must not cut others' bytes.
     * The length may be one that a neighbour has made for a moment; {@link #filled} sees that.
     */
    private static long exclusiveBytes(Flight flight) {
        if (flight.lengthens) {
            return Long.MAX_VALUE - flight.coverOffset;
        }
        try {
            flight.lengthens =
                    flight.coverOffset + flight.coverBytes > flight.file().size();
        } catch (IOException e) {
            flight.lengthens = true;
        }
        return flight.lengthens ? Long.MAX_VALUE - flight.coverOffset : flight.coverBytes;
    }

    private void locked(Flight flight) {
        if (flight.owner().isStopped()) {
            lane.end(flight);
        } else if (flight.step == Flight.Step.BODY) {
            body(flight);
        } else {
            slotOrWait(flight);
        }
    }

    private void slotOrWait(Flight flight) {
        Route route = flight.owner().route();
        Pool pool = pools.computeIfAbsent(route, r -> new Pool());
        DeviceMemory slot = pool.free.poll();
        if (slot == null && pool.allocated < slots) {
            slot = allocate(flight, route);
            if (slot == null) {
                return;
            }
            pool.allocated++;
        }
        if (slot == null) {
            waitingForSlot.add(flight);
        } else {
            flight.slot = slot;
            throughSlot(flight);
        }
    }

    private void throughSlot(Flight flight) {
        if (flight.kind == Kind.WRITE && !flight.merges) {
            copy(flight, flight.bytes);
        } else {
            fill(flight);
        }
    }

    private @Nullable DeviceMemory allocate(Flight flight, Route route) {
        try {
            return route.allocateSlot(SLOT_BYTES);
        } catch (RuntimeException e) {
            flight.owner().fail(e);
            lane.end(flight);
            return null;
        }
    }

    private void body(Flight flight) {
        Request request = flight.request
                .file(flight.kind, flight.file(), flight.fileOffset + flight.done, flight.bytes - flight.done)
                .memory(flight.memory(), flight.memoryOffset + flight.done);
        if (flight.packed) {
            request.packed(flight.owner().transfer(), flight.pair, flight.pairCount);
        }
        flight.joinOrder();
        lane.enqueue(flight);
    }

    private void fill(Flight flight) {
        flight.step = Flight.Step.FILL;
        cover(flight, Kind.READ);
    }

    private void copy(Flight flight, long bytes) {
        flight.step = Flight.Step.COPY;
        flight.done = bytes;
        Kind kind = flight.kind == Kind.READ ? Kind.COPY_IN : Kind.COPY_OUT;
        flight.request
                .copy(kind, flight.slot(), flight.fileOffset - flight.coverOffset, bytes)
                .memory(flight.memory(), flight.memoryOffset);
        flight.joinOrder();
        lane.enqueue(flight);
    }

    private void store(Flight flight) {
        flight.step = Flight.Step.STORE;
        cover(flight, Kind.WRITE);
    }

    private void cover(Flight flight, Kind kind) {
        flight.request
                .file(kind, flight.file(), flight.coverOffset + flight.coverDone, flight.coverBytes - flight.coverDone)
                .memory(flight.slot(), flight.coverDone);
        lane.enqueue(flight);
    }

    /** Submits the same step again, after a failure that is none. */
    void again(Flight flight) {
        switch (flight.step) {
            case BODY -> body(flight);
            case FILL -> fill(flight);
            case COPY -> copy(flight, flight.done);
            case STORE -> store(flight);
            case LENGTH, SINGLE -> throw new IllegalStateException(flight.step + " is not repeated");
        }
    }

    /** Takes what a step moved, and starts the next step or ends the piece. */
    void advance(Flight flight, long moved) {
        switch (flight.step) {
            case BODY -> bodyMoved(flight, moved);
            case FILL -> filled(flight, moved);
            case COPY -> copied(flight);
            case STORE -> stored(flight, moved);
            case LENGTH, SINGLE -> throw new IllegalStateException(flight.step + " is no step of a request");
        }
    }

    private void bodyMoved(Flight flight, long moved) {
        long before = flight.done;
        flight.done += moved;
        flight.moved = Math.max(flight.moved, flight.done);
        if (flight.done == flight.bytes || flight.owner().isStopped()) {
            lane.end(flight);
        } else if (flight.kind == Kind.READ
                && (flight.packed || flight.endsFileAt(flight.fileOffset, flight.done, moved))) {
            lane.end(flight); // rule 103: a short count only where the file ends
        } else {
            flight.done = flight.resumeAt(before, flight.done);
            again(flight, moved);
        }
    }

    private void filled(Flight flight, long moved) {
        long before = flight.coverDone;
        flight.coverDone += moved;
        boolean ended =
                flight.coverDone == flight.coverBytes || flight.endsFileAt(flight.coverOffset, flight.coverDone, moved);
        if (flight.owner().isStopped()) {
            lane.end(flight);
        } else if (!ended) {
            flight.coverDone = flight.resumeAt(before, flight.coverDone);
            again(flight, moved);
        } else if (flight.kind == Kind.WRITE && flight.coverDone < flight.coverBytes && !flight.lengthens) {
            lockToTheEnd(flight);
        } else if (flight.kind == Kind.WRITE) {
            clearBeyondEnd(flight);
            copy(flight, flight.bytes);
        } else {
            long got = flight.coverDone - (flight.fileOffset - flight.coverOffset);
            if (got <= 0) {
                lane.end(flight);
            } else {
                copy(flight, Math.min(got, flight.bytes));
            }
        }
    }

    /** Continues with the rest after a short count; fails if the device makes no progress. */
    private void again(Flight flight, long moved) {
        if (moved == 0 || flight.retries > Lane.MOST_RETRIES) {
            flight.owner().fail(Failures.movedNothing(flight.owner().transfer()));
            lane.end(flight);
        } else {
            again(flight);
        }
    }

    /** Begins again: the file turned out to end within the cover, and what was claimed does not reach behind its end. */
    private void lockToTheEnd(Flight flight) {
        release(flight);
        flight.coverDone = 0;
        flight.lengthens = true;
        begin(flight);
    }

    /** What a file does not have yet reads as zeros when it is lengthened: not as what the slot held before. */
    private static void clearBeyondEnd(Flight flight) {
        if (flight.coverDone < flight.coverBytes) {
            if (flight.slot().hostAddress() != 0) { // else the route does it
                int rest = (int) (flight.coverBytes - flight.coverDone);
                MemoryView.window(flight.slot(), flight.coverDone, rest).put(new byte[rest]);
            }
            long end = flight.fileOffset + flight.bytes;
            flight.finalLength = Math.max(end, flight.coverOffset + flight.coverDone);
        }
    }

    private void copied(Flight flight) {
        if (flight.kind == Kind.READ) {
            flight.moved = flight.done;
            lane.end(flight);
        } else if (flight.owner().isStopped()) {
            lane.end(flight);
        } else {
            flight.coverDone = 0;
            store(flight);
        }
    }

    private void stored(Flight flight, long moved) {
        long before = flight.coverDone;
        flight.coverDone += moved;
        if (flight.coverDone < flight.coverBytes) {
            flight.coverDone = flight.resumeAt(before, flight.coverDone);
            again(flight, moved);
        } else {
            flight.moved = flight.done;
            if (flight.finalLength < 0) {
                lane.end(flight);
            } else {
                restoreLength(flight);
            }
        }
    }

    /** Whole blocks were written; the file keeps its exact length (rule 206). The claim keeps others from lengthening it. */
    private void restoreLength(Flight flight) {
        flight.step = Flight.Step.LENGTH;
        NativeFile file = flight.file();
        long length = flight.finalLength;
        // ftruncate waits for the file's lock, which others hold while they write: not on the lane.
        Offload.blocking(() -> {
            IOException failure = truncate(file, length);
            lane.post(() -> {
                if (failure != null) {
                    Transfer transfer = flight.owner().transfer();
                    flight.owner().fail(Failures.lengthNotRestored(transfer, length, failure));
                }
                lane.end(flight);
            });
        });
    }

    private static @Nullable IOException truncate(NativeFile file, long length) {
        try {
            file.truncate(length);
            return null;
        } catch (IOException e) {
            return e;
        }
    }

    /** Ends a piece that waits for a lock or a slot, since its transfer is to stop. */
    void giveUp(Flight flight) {
        waitingForSlot.remove(flight);
        lane.end(flight);
    }

    /** Gives back what a piece held. */
    void release(Flight flight) {
        DeviceMemory slot = flight.slot;
        Route route = flight.owner().route();
        BlockLocks locks = flight.locks;
        if (locks != null) {
            flight.locks = null;
            locks.unlock(flight.claim);
            if (flight.waitsForLock) {
                flight.claim = flight.newClaim();
            }
        }
        if (slot == null) {
            return;
        }
        flight.slot = null;
        pool(route).free.add(slot);
        passSlotOn(route);
    }

    private Pool pool(Route route) {
        return pools.computeIfAbsent(route, r -> new Pool());
    }

    private void passSlotOn(Route route) {
        for (Flight waiting : waitingForSlot) {
            if (waiting.owner().route() == route) {
                waitingForSlot.remove(waiting);
                slotOrWait(waiting);
                return;
            }
        }
    }

    /** Returns how many pieces wait for a slot. */
    int waiting() {
        return waitingForSlot.size();
    }

    void close() {
        for (Pool pool : pools.values()) {
            pool.free.forEach(DeviceMemory::free);
        }
        pools.clear();
    }
}
