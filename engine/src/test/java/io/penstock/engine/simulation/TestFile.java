// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.StorageFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A file, the handles on it, and what must be in it. */
final class TestFile {
    final SimulatedFile simulated;
    final Content content;
    int readable; // bytes that can be read, before and after all writes
    final List<Place> spots = new ArrayList<>(); // each for one writer at a time; none if it is only read
    final List<Handle> handles = new ArrayList<>();
    final List<Attempt> attempts = new ArrayList<>();
    private int leastLength;
    private int mostLength;

    /** A file as it was opened once. */
    static final class Handle {
        final TestFile of;
        final StorageFile file;
        final List<Attempt> writes = new ArrayList<>(); // in the order of subscription
        boolean syncHasFailed;

        Handle(TestFile of, StorageFile file) {
            this.of = of;
            this.file = file;
        }
    }

    TestFile(SimulatedFile simulated) {
        this.simulated = simulated;
        content = new Content(simulated.content, SimulatedFile.MOST_BYTES);
        readable = simulated.length;
        leastLength = simulated.length;
        mostLength = simulated.length;
    }

    /** Cuts the file, and what may be added to it, into places for writers that touch each other. */
    void cut(Chance chance, int upTo) {
        int unit = Math.max(256, simulated.fileAlignment);
        for (int at = chance.below(unit); at < upTo; ) {
            int bytes = 1 + chance.below(chance.oneIn(3) ? 6 * unit : unit);
            if (chance.oneIn(3)) {
                bytes = (at + bytes + unit - 1) / unit * unit - at; // to the end of a block
            }
            spots.add(new Place(at, bytes));
            at += bytes;
        }
    }

    void mayGrowTo(int length) {
        mostLength = Math.max(mostLength, length);
    }

    /** A channel makes a file longer by a block behind the new end, and then cuts that off: which was refused. */
    void mayKeepTailBehind(int length) {
        int block = simulated.fileAlignment;
        if (simulated.keepsPadding) {
            mayGrowTo((length + block - 1) / block * block + block);
        }
    }

    /** Another process makes it shorter, while nobody writes it. */
    void shorten(int length) {
        simulated.truncate(length);
        readable = length;
        leastLength = length;
    }

    void hasGrownTo(int length) {
        leastLength = Math.max(leastLength, length);
    }

    int mostLength() {
        return mostLength;
    }

    /** Returns whether no write is under way, cancelled ones included. */
    boolean isQuiet() {
        return spots.stream().allMatch(Place::isFree);
    }

    /** Checks a length that the application has read; it may include padding that has not been cut off yet. */
    void checkLength(long length) {
        if (length < leastLength || length > mostLength + simulated.fileAlignment) {
            throw new Violation("206: " + simulated.name + " has a reported length of " + length + " bytes, not "
                    + leastLength + " to " + mostLength);
        }
    }

    void check() {
        int length = simulated.length;
        int block = simulated.fileAlignment;
        // A write that could not cut the file to its length must have failed, unless it was cancelled.
        boolean mayBePadded = simulated.keepsPadding && !attempts.stream().allMatch(Attempt::hasSucceeded);
        int longest = mayBePadded ? (mostLength + block - 1) / block * block : mostLength;
        if (length < leastLength || length > longest) {
            throw new Violation("206: " + simulated.name + " is " + length + " bytes long, not " + leastLength
                    + (mostLength == leastLength ? "" : " to " + mostLength));
        }
        int wrong = content.wrong(0, ByteBuffer.wrap(simulated.content, 0, length), Integer.MAX_VALUE);
        if (wrong >= 0) {
            throw new Violation("206: byte " + wrong + " of " + simulated.name + " is not what was written there");
        }
    }
}
