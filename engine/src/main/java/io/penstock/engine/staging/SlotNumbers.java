// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Slots by number, for devices whose ticket for a copy is the number of its slot: at most one copy of a slot is under way.
 *
 * <p><b>Threading:</b> thread-safe. {@link #at} takes no lock: whoever asks has the number of a slot that is there, so the
 * array that it was written to, or a later one, has been published.
 *
 * @param <S> the slots
 */
public final class SlotNumbers<S> {

    private final BitSet taken = new BitSet(); // guarded by this
    private volatile @Nullable Object[] slots = {}; // never written to once it is here; replaced under this

    /** Makes one without slots. */
    public SlotNumbers() {}

    /**
     * Makes a slot, with the smallest number that is free; nothing is locked meanwhile.
     *
     * @param allocation takes the number; if it fails, that is free again
     */
    public S add(IntFunction<? extends S> allocation) {
        int number = next();
        try {
            S slot = allocation.apply(number);
            put(number, slot);
            return slot;
        } catch (RuntimeException | Error e) {
            remove(number);
            throw e;
        }
    }

    private synchronized int next() {
        int number = taken.nextClearBit(0);
        taken.set(number);
        return number;
    }

    private synchronized void put(int number, @Nullable S slot) {
        @Nullable Object[] copy = Arrays.copyOf(slots, Math.max(slots.length, number + 1));
        copy[number] = slot;
        slots = copy;
    }

    /** Returns a slot that is there, by its number. */
    @SuppressWarnings("unchecked") // nothing else is put in
    public S at(long number) {
        return (S) Objects.requireNonNull(slots[(int) number]);
    }

    /** Forgets a slot: its number is free. */
    public synchronized void remove(int number) {
        put(number, null);
        taken.clear(number);
    }
}
