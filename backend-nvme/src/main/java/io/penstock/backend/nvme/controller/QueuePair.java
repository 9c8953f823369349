// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import io.penstock.backend.nvme.bus.Bus;
import io.penstock.backend.nvme.bus.DmaMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A submission queue and its completion queue, which have the same number of entries. The caller keeps fewer commands
 * in flight than there are entries, so that neither queue is ever full.
 *
 * <p>The controller writes a completion queue entry before its last dword, which holds the phase bit; that dword is
 * read with acquire semantics, and the rest after it.
 *
 * <p><b>Threading:</b> one thread at a time. No method allocates.
 */
public final class QueuePair {

    /** The size of a completion queue entry. */
    public static final int COMPLETION_BYTES = 16;

    private static final int LAST_WORD = 12;
    private static final int PHASE = 1 << 16;

    private static final VarHandle WORDS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /**
     * What a queue pair keeps over resets.
     *
     * @param id the identifier
     * @param entries how many entries each queue has
     * @param eventfd what its interrupts signal; -1 if it has none
     */
    record Place(int id, int entries, int eventfd) {}

    /** Receives completions. */
    @FunctionalInterface
    public interface Completions {

        /**
         * Called for each completion.
         *
         * @param commandId identifies the command
         * @param status the status field without the phase bit; 0 if the command has succeeded
         * @param result command-specific
         */
        void completed(int commandId, int status, int result);
    }

    private final int id;
    private final int entries;
    private final int generation;
    private final int eventfd;
    private final Doorbells doorbells;
    private final DmaMemory submissions;
    private final DmaMemory completions;
    private final ByteBuffer completionBytes;
    private final SubmissionEntry entry;
    private int tail;
    private int rungTail;
    private int head;
    private int phase = PHASE;
    private boolean stopped; // guarded by the controller

    private QueuePair(Place place, int generation, Doorbells doorbells, DmaMemory submissions, DmaMemory completions) {
        id = place.id;
        entries = place.entries;
        eventfd = place.eventfd;
        this.generation = generation;
        this.doorbells = doorbells;
        this.submissions = submissions;
        this.completions = completions;
        entry = new SubmissionEntry(bytes(submissions));
        completionBytes = bytes(completions);
        for (int i = 0; i < completionBytes.capacity(); i += Long.BYTES) {
            completionBytes.putLong(i, 0); // no entry has the first phase
        }
    }

    /** Allocates the queues of a generation; the controller does not know them yet. */
    static QueuePair allocate(Place place, int generation, Bus bus, Doorbells doorbells) {
        DmaMemory submissions = bus.allocate((long) place.entries * SubmissionEntry.BYTES);
        try {
            DmaMemory completions = bus.allocate((long) place.entries * COMPLETION_BYTES);
            return new QueuePair(place, generation, doorbells, submissions, completions);
        } catch (RuntimeException | Error e) {
            submissions.free();
            throw e;
        }
    }

    /**
     * Returns empty queues of a later generation, in the memory of these, so that a reset needs none; the controller
     * must have been disabled since, and these are neither used nor freed any more.
     */
    QueuePair renewed(int generation) {
        return new QueuePair(new Place(id, entries, eventfd), generation, doorbells, submissions, completions);
    }

    private static ByteBuffer bytes(DmaMemory memory) {
        return memory.buffer(0, (int) memory.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the identifier, 0 for the admin queues. */
    public int id() {
        return id;
    }

    /** Returns the number of entries of each queue. */
    public int entries() {
        return entries;
    }

    /** Returns whether its completions raise interrupts. */
    public boolean hasInterrupts() {
        return eventfd >= 0;
    }

    /** Returns the {@linkplain Controller#generation generation} of the controller that it belongs to. */
    public int generation() {
        return generation;
    }

    /** Returns the memory of the submission queue. */
    public DmaMemory submissions() {
        return submissions;
    }

    /** Returns the memory of the completion queue. */
    public DmaMemory completions() {
        return completions;
    }

    /** Returns the index of the completion queue entry that the next completion is in. */
    public int head() {
        return head;
    }

    /** Returns whether a completion has arrived that was not passed on. */
    public boolean hasCompletion() {
        return (lastWord() & PHASE) == phase;
    }

    private int lastWord() {
        return (int) WORDS.getAcquire(completionBytes, head * COMPLETION_BYTES + LAST_WORD);
    }

    /** Returns the next entry, to be filled; the controller sees it after {@link #ring}. */
    public SubmissionEntry next() {
        SubmissionEntry next = entry.moveTo(tail);
        tail = tail + 1 == entries ? 0 : tail + 1;
        return next;
    }

    /** Rings the doorbell for the entries since the last call; returns whether there were any. */
    public boolean ring() {
        if (tail == rungTail) {
            return false;
        }
        rungTail = tail;
        doorbells.tail(id, tail);
        return true;
    }

    /** Passes on the completions that have arrived, and rings for all of them once; returns how many. */
    public int poll(Completions receiver) {
        int count = reap(receiver, entries);
        if (count > 0) {
            ringHead();
        }
        return count;
    }

    /** Gives the entries of completions that were passed on back to the controller. */
    public void ringHead() {
        doorbells.head(id, head);
    }

    /** Passes on at most {@code most} completions, as {@link #poll}, but without ringing. */
    public int reap(Completions receiver, int most) {
        int count = 0;
        while (count < most) {
            int last = lastWord();
            if ((last & PHASE) != phase) {
                break;
            }
            int result = completionBytes.getInt(head * COMPLETION_BYTES);
            if (++head == entries) {
                head = 0;
                phase ^= PHASE;
            }
            count++;
            receiver.completed(last & 0xffff, last >>> 17, result);
        }
        return count;
    }

    /** Marks the submission queue as deleted; returns false if it was. */
    boolean stop() {
        boolean isFirst = !stopped;
        stopped = true;
        return isFirst;
    }

    /** Frees the memory; the controller must have deleted the queues, or have been disabled. */
    void free() {
        submissions.free();
        completions.free();
    }
}
