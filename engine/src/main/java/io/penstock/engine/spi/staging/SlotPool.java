// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.host.HostBytes;
import io.penstock.engine.spi.DeviceMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a queue, and the pieces that wait for one. No thread ever waits for a slot: a piece does, and the thread that
 * frees a slot starts the next piece, so nothing holds a slot while waiting for another (rule 304).
 *
 * <p>Thread-safe, but for {@link #close}.
 */
final class SlotPool {

    private final List<Slot> all = new ArrayList<>();

    // A stack: the slot used last is the one that the processor's caches know best.
    private final ConcurrentLinkedDeque<Slot> free = new ConcurrentLinkedDeque<>();
    private final Queue<Piece> waiting;

    SlotPool(StagingDevice device, HostBytes host, int slots, long bytes) {
        this(device, host, slots, bytes, new ConcurrentLinkedQueue<>());
    }

    /** As above, with the line of pieces of a test's. */
    SlotPool(StagingDevice device, HostBytes host, int slots, long bytes, Queue<Piece> waiting) {
        this.waiting = waiting;
        try {
            for (int i = 0; i < slots; i++) {
                DeviceMemory memory = device.allocateSlot(bytes);
                all.add(new Slot(memory, host.of(memory)));
            }
        } catch (RuntimeException | Error e) {
            all.forEach(Slot::free);
            throw e;
        }
        free.addAll(all);
    }

    /** Gives a slot to the piece, now or when there is one. */
    void assign(Piece piece) {
        if (!piece.giveTo(Piece.AWAITS_SLOT)) {
            piece.queue.end(piece, StagedQueue.CANCELLED);
            return;
        }
        waiting.offer(piece);
        match();
    }

    /** Takes back a slot that the device and host I/O have let go of (rule 204). */
    void release(Slot slot) {
        free.push(slot);
        match();
    }

    /** Forgets a piece that was taken back while it waited. */
    void forget(Piece piece) {
        waiting.remove(piece);
    }

    private void match() {
        for (Slot slot = free.poll(); slot != null; slot = free.poll()) {
            Piece piece = nextWaiting();
            if (piece != null) {
                piece.slot(slot);
                piece.queue.hand(piece);
            } else {
                free.push(slot);
                // Pairs with assign() on another thread, which may have found no slot while this one held it.
                if (waiting.isEmpty()) {
                    return;
                }
            }
        }
    }

    private @Nullable Piece nextWaiting() {
        Piece piece = waiting.poll();
        while (piece != null && !piece.takeFrom(Piece.AWAITS_SLOT)) {
            piece = waiting.poll();
        }
        return piece;
    }

    int total() {
        return all.size();
    }

    int free() {
        return free.size();
    }

    void close() {
        all.forEach(Slot::free);
    }
}
