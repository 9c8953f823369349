// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.engine.simulation.TestFile.Handle;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The files and buffers of the application, and transfers between them, made by chance; null where there is no room.
 */
final class Attempts {
    final List<TestFile> files = new ArrayList<>();
    final List<TestBuffer> buffers = new ArrayList<>();
    private final Chance chance;

    Attempts(Chance chance) {
        this.chance = chance;
    }

    /** Returns a read of one to three pairs, or null if there is no room. */
    @Nullable
    Attempt newRead() {
        Handle handle = someHandle(false);
        if (handle == null) {
            return null;
        }
        Attempt attempt = new Attempt(handle, true);
        for (int i = chance.oneIn(4) ? 3 : 1; i > 0; i--) {
            addRead(attempt);
        }
        return attempt.pairs() == 0 ? null : attempt;
    }

    private void addRead(Attempt attempt) {
        TestFile file = attempt.handle.of;
        int unit = file.simulated.fileAlignment;
        int offset = chance.below(file.readable);
        int bytes = 1 + chance.below(chance.oneIn(3) ? 8 * unit + 9000 : 2 * unit);
        if (chance.oneIn(2)) {
            offset = offset / unit * unit;
            bytes = (bytes + unit - 1) / unit * unit;
        }
        if (!file.spots.isEmpty() || chance.oneIn(2)) {
            bytes = Math.min(bytes, file.readable - offset); // beyond the end only where the end does not move
        }
        TestBuffer buffer = chance.pick(buffers);
        Place place = buffer.take(chance, bytes, unit);
        if (place != null) {
            attempt.add(offset, buffer, place.offset, place);
        }
    }

    /** Returns a write to one to three free places, or null. */
    @Nullable
    Attempt newWrite() {
        Handle handle = someHandle(true);
        if (handle == null) {
            return null;
        }
        Attempt attempt = new Attempt(handle, false);
        for (int i = chance.oneIn(4) ? 3 : 1; i > 0; i--) {
            Place spot = chance.pick(handle.of.spots);
            if (spot.isFree()) {
                addWrite(attempt, spot);
            }
        }
        return attempt.pairs() == 0 ? null : attempt;
    }

    boolean addWrite(Attempt attempt, Place spot) {
        TestBuffer buffer = chance.pick(buffers);
        int unit = attempt.handle.of.simulated.fileAlignment;
        Place source = buffer.take(chance, spot.bytes, unit);
        if (source == null) {
            return false;
        }
        byte[] data = chance.bytes(spot.bytes);
        buffer.memory(source.offset, source.bytes).put(data);
        buffer.content.settle(source.offset, data, 0, data.length);
        attempt.add(spot.offset, buffer, source.offset, spot);
        return true;
    }

    @Nullable
    Handle someHandle(boolean writes) {
        TestFile file = chance.pick(files);
        return file.handles.isEmpty() || (writes && file.spots.isEmpty()) ? null : chance.pick(file.handles);
    }

    /** Returns a read of several blocks of equal length into one region, or null. */
    @Nullable
    Attempt newGather() {
        Handle handle = someHandle(false);
        if (handle == null) {
            return null;
        }
        int unit = handle.of.simulated.fileAlignment;
        int length = chance.oneIn(2) ? unit : 1 + chance.below(700);
        int count = chance.between(1, 6);
        TestBuffer buffer = chance.pick(buffers);
        Place all = buffer.take(chance, count * length, unit);
        if (all == null || length > handle.of.readable) {
            return null;
        }
        Attempt attempt = new Attempt(handle, true);
        for (int i = 0; i < count; i++) {
            Place block = new Place(all.offset + i * length, length);
            int offset = chance.below(handle.of.readable - length + 1);
            attempt.add(chance.oneIn(2) ? offset / unit * unit : offset, buffer, block.offset, block);
        }
        return attempt;
    }

    /** Returns an attempt that writes where a cancelled one may still write, or null. */
    @Nullable
    Attempt again(Attempt before) {
        Handle handle =
                chance.pick(before.handle.of.handles.isEmpty() ? List.of(before.handle) : before.handle.of.handles);
        Attempt attempt = new Attempt(handle, before.read);
        Place place = before.place();
        if (!place.isGivenUp()) {
            return null;
        }
        if (!before.read) {
            return addWrite(attempt, place) ? attempt : null;
        }
        if (place.bytes > handle.of.readable || before.buffer().isClosed()) {
            return null;
        }
        attempt.add(chance.below(handle.of.readable - place.bytes + 1), before.buffer(), place.offset, place);
        return attempt;
    }
}
