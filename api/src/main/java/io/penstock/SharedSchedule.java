// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which member of a shared read reads a chunk, and which ones copy it from where: a member that has nothing to copy reads
 * the next chunk that no member has begun; it copies each chunk that another member has.
 *
 * <p>Not thread-safe. A search scans the chunks from the first that a member lacks to the first that no member has begun.
 *
 * @param <M> the members
 */
final class SharedSchedule<M extends SharedSchedule.Seat> {

    private static final int IN_FLIGHT = 8; // chunks that a member reads, and as many that it copies
    private static final int NOBODY = -1;

    /** What a member has. */
    abstract static class Seat {

        static final byte MISSING = 0;
        static final byte COMING = 1;
        static final byte THERE = 2;

        private final byte[] state; // by chunk
        private final boolean[] whole; // by chunk: it arrived, and was not cut short by the end of the file
        private final boolean[] refused; // by chunk: copying failed
        private boolean takesPart;
        private int first; // no chunk before it is missing
        private int reads;
        private int copies;
        private int there;

        Seat(int chunks) {
            this.state = new byte[chunks];
            this.whole = new boolean[chunks];
            this.refused = new boolean[chunks];
        }

        final boolean takesPart() {
            return takesPart;
        }

        private boolean isDone() {
            return there == state.length;
        }
    }

    /**
     * What a member is to move.
     *
     * @param from whose buffers have the chunk; null if it is read from the file
     */
    record Order<M>(M member, int chunk, @Nullable M from) {}

    private final List<M> members = new ArrayList<>();
    private final int[] holders; // by chunk: the index of a member that takes part and has it, or NOBODY
    private final int[] readers; // by chunk: the index of the member that reads it now, or NOBODY
    private int begun; // no chunk from this one on was begun

    SharedSchedule(int chunks) {
        holders = new int[chunks];
        readers = new int[chunks];
        Arrays.fill(holders, NOBODY);
        Arrays.fill(readers, NOBODY);
    }

    /** Lets a member take part, which has no chunk. */
    void join(M member) {
        members.add(member);
        Seat seat = member;
        seat.takesPart = true;
    }

    /** Returns those that take part. */
    List<M> present() {
        return members.stream().filter(Seat::takesPart).toList();
    }

    boolean allDone() {
        return members.stream().allMatch(member -> !member.takesPart() || ((Seat) member).isDone());
    }

    private @Nullable M at(int index) {
        return index == NOBODY ? null : members.get(index);
    }

    /** Returns what can start now, and counts it as started; null if nothing can. */
    @Nullable
    Order<M> next() {
        for (int index = 0; index < members.size(); index++) {
            M member = members.get(index);
            Seat seat = member;
            for (int chunk = seat.first; seat.takesPart && chunk <= begun && chunk < readers.length; chunk++) {
                if (seat.state[chunk] != Seat.MISSING) {
                    seat.first += chunk == seat.first && seat.state[chunk] == Seat.THERE ? 1 : 0;
                    continue;
                }
                M holder = at(holders[chunk]);
                if (holder != null && !seat.refused[chunk]) {
                    if (seat.copies < IN_FLIGHT) {
                        seat.copies++;
                        seat.state[chunk] = Seat.COMING;
                        return new Order<>(member, chunk, holder);
                    }
                } else if ((readers[chunk] == NOBODY || seat.refused[chunk]) && seat.reads < IN_FLIGHT) {
                    return reading(member, chunk);
                }
            }
        }
        return null;
    }

    /** Counts a chunk as being read by a member. */
    Order<M> reading(M member, int chunk) {
        Seat seat = member;
        begun = Math.max(begun, chunk + 1);
        seat.reads++;
        seat.state[chunk] = Seat.COMING;
        readers[chunk] = readers[chunk] == NOBODY ? members.indexOf(member) : readers[chunk];
        return new Order<>(member, chunk, null);
    }

    /** Ends an order, of a member that takes part. Returns whether the member has the chunk. */
    boolean ended(Order<M> order, boolean arrived, boolean whole) {
        Seat seat = order.member();
        Seat from = order.from();
        int chunk = order.chunk();
        if (from == null) {
            seat.reads--;
            readers[chunk] = at(readers[chunk]) == seat ? NOBODY : readers[chunk];
        } else {
            seat.copies--;
            seat.refused[chunk] = !arrived && from.takesPart; // then the file is read
        }
        if (!arrived || from != null && !from.takesPart) { // its owner may have written to the buffer meanwhile
            seat.state[chunk] = Seat.MISSING;
            return false;
        }
        has(order.member(), chunk, whole);
        return true;
    }

    /** Counts a chunk as one that a member has. */
    void has(M member, int chunk, boolean whole) {
        begun = Math.max(begun, chunk + 1);
        Seat seat = member;
        seat.state[chunk] = Seat.THERE;
        seat.there++;
        seat.whole[chunk] = whole;
        if (whole && holders[chunk] == NOBODY) {
            holders[chunk] = members.indexOf(member); // a short one is read by each: its rest is not copied
        }
    }

    /** Removes a member: no other copies from its buffer from now on. */
    void leave(M member) {
        Seat left = member;
        left.takesPart = false;
        for (int chunk = 0; chunk < holders.length; chunk++) {
            readers[chunk] = at(readers[chunk]) == left ? NOBODY : readers[chunk];
            if (at(holders[chunk]) == left) {
                holders[chunk] = holder(chunk);
            }
        }
    }

    private int holder(int chunk) {
        for (int index = 0; index < members.size(); index++) {
            Seat seat = members.get(index);
            if (seat.takesPart && seat.state[chunk] == Seat.THERE && seat.whole[chunk]) {
                return index;
            }
        }
        return NOBODY;
    }
}
