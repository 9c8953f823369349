// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.Completion;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.Transfer;
import io.penstock.engine.simulation.TestFile.Handle;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A transfer, and what it must do to files and buffers. */
final class Attempt {

    /** One of its pairs; the place that is written is the file's for a write, and else the buffer's. */
    private static final class Pair {
        final int fileOffset;
        final TestBuffer buffer;
        final int bufferOffset;
        final Place written;
        final int bytes;
        final byte[] data; // of a write

        Pair(int fileOffset, TestBuffer buffer, int bufferOffset, Place written, boolean read) {
            this.fileOffset = fileOffset;
            this.buffer = buffer;
            this.bufferOffset = bufferOffset;
            this.written = written;
            bytes = written.bytes;
            data = read ? new byte[0] : buffer.content.copy(bufferOffset, bytes);
        }
    }

    final Handle handle;
    final boolean read;
    boolean hasDeadline;
    private final List<Pair> pairs = new ArrayList<>();
    private @Nullable Watch<?> watch;
    private boolean begun;
    private boolean ended;
    private boolean succeeded;
    private boolean durable; // a sync that covers it has succeeded
    private int since;
    private int readableBefore;

    Attempt(Handle handle, boolean read) {
        this.handle = handle;
        this.read = read;
        handle.of.attempts.add(this);
    }

    /** Adds a pair whose buffer side is at {@code bufferOffset}. */
    void add(int fileOffset, TestBuffer buffer, int bufferOffset, Place written) {
        pairs.add(new Pair(fileOffset, buffer, bufferOffset, written, read));
        written.isFor(this);
    }

    /** Returns the place that its first pair writes. */
    Place place() {
        return pairs.get(0).written;
    }

    /** Returns the buffer of its first pair. */
    TestBuffer buffer() {
        return pairs.get(0).buffer;
    }

    int pairs() {
        return pairs.size();
    }

    void watchedBy(Watch<?> watch) {
        this.watch = watch;
    }

    boolean isCancelled() {
        return !ended && watch != null && !watch.isOpen();
    }

    boolean hasEnded() {
        return ended;
    }

    /** Returns the transfer; {@link #begin} when it is subscribed to. */
    Transfer transfer() {
        Transfer all = null;
        for (Pair pair : pairs) {
            var region = handle.file.region(pair.fileOffset, pair.bytes);
            var target = pair.buffer.buffer.region(pair.bufferOffset, pair.bytes);
            Transfer one = read ? Transfer.read(region, target) : Transfer.write(target, region);
            all = all == null ? one : all.and(List.of(one));
        }
        if (all == null) {
            throw new IllegalStateException("nothing to transfer");
        }
        return all;
    }

    /** Returns the transfer of blocks of equal length whose targets lie one behind the other. */
    Transfer gather() {
        Pair first = pairs.get(0);
        long[] offsets = pairs.stream().mapToLong(pair -> pair.fileOffset).toArray();
        var target = first.buffer.buffer.region(first.bufferOffset, (long) pairs.size() * first.bytes);
        return Transfer.gather(handle.file, offsets, first.bytes, target);
    }

    /** From now on, the content of the places that it writes is unknown. */
    void begin() {
        begun = true;
        for (Pair pair : pairs) {
            if (read) {
                pair.buffer.content.unknown(pair.bufferOffset, pair.bytes);
            } else {
                handle.of.content.unknown(pair.fileOffset, pair.bytes);
                handle.of.mayGrowTo(pair.fileOffset + pair.bytes);
            }
        }
        since = handle.of.content.now();
        readableBefore = handle.of.readable;
    }

    /** Returns how many bytes of a pair are moved in a file that is so long. */
    private long expected(Pair pair, int length) {
        return read ? Math.max(0, Math.min(pair.bytes, length - pair.fileOffset)) : pair.bytes;
    }

    /** From now on, a sync covers it. */
    void accepted() {
        if (!read) {
            handle.writes.add(this);
        }
    }

    boolean hasSucceeded() {
        return succeeded;
    }

    /** It has ended well, and who watches it has checked the rest. */
    void end() {
        ended = true;
        succeeded = true;
    }

    void fail(Throwable error) {
        ended = true;
        if (error instanceof PenstockException failure) {
            for (int i = 0; i < pairs.size(); i++) {
                checkMoved(failure, i);
            }
        }
    }

    /** The bytes that a failure reports as moved were moved; none where it reports that nothing was started. */
    private void checkMoved(PenstockException failure, int index) {
        Pair pair = pairs.get(index);
        long bytes = failure.bytes(index);
        if (bytes < 0 || bytes > pair.bytes || (bytes > 0 && failure.outcome() != Outcome.PARTIAL)) {
            throw new Violation("401: " + failure.outcome() + " and " + bytes + " bytes of " + this);
        }
        if (pair.written.last() != this) {
            return;
        }
        for (int i = 0; i < bytes && !read; i++) {
            if (handle.of.simulated.content[pair.fileOffset + i] != pair.data[i]) {
                throw new Violation("401: byte " + i + " of " + this + " was not written, as its failure says");
            }
        }
        if (read && !pair.buffer.isClosed()) {
            ByteBuffer seen = pair.buffer.memory(pair.bufferOffset, (int) bytes);
            if (handle.of.content.wrong(pair.fileOffset, seen, since) >= 0) {
                throw new Violation("401: " + this + " did not read " + bytes + " bytes, as its failure says");
            }
        }
    }

    void succeed(Completion completion) {
        if (!begun || ended) {
            throw new Violation("101: a completion of a transfer that " + (ended ? "had ended" : "was not begun"));
        }
        ended = true;
        succeeded = true;
        long total = 0;
        for (int i = 0; i < pairs.size(); i++) {
            Pair pair = pairs.get(i);
            long moved = completion.bytes(i);
            long least = expected(pair, handle.of.readable); // the file may have become shorter meanwhile
            long most = expected(pair, readableBefore);
            if (moved < least || moved > most) {
                throw new Violation(
                        "103: pair " + i + " of " + this + " moved " + moved + " bytes, not " + least + " to " + most);
            }
            total += moved;
            settle(pair, (int) moved);
        }
        if (completion.bytes() != total) {
            throw new Violation("103: " + this + " moved " + completion.bytes() + " bytes, not " + total);
        }
        if (durable) {
            checkDurable();
        }
    }

    private void settle(Pair pair, int bytes) {
        boolean counts = pair.written.last() == this;
        if (!read) {
            handle.of.hasGrownTo(pair.fileOffset + bytes);
            if (counts) {
                handle.of.content.settle(pair.fileOffset, pair.data, 0, bytes);
            }
        } else if (counts && !pair.buffer.isClosed()) {
            ByteBuffer seen = pair.buffer.memory(pair.bufferOffset, bytes);
            int wrong = handle.of.content.wrong(pair.fileOffset, seen, since);
            if (wrong >= 0) {
                throw new Violation("203: byte " + wrong + " of " + this + " is not what is in the file");
            }
            byte[] copy = new byte[bytes];
            seen.get(copy);
            pair.buffer.content.settle(pair.bufferOffset, copy, 0, bytes);
        }
    }

    /** A sync that was subscribed later has succeeded. */
    void mustBeDurable() {
        durable = true;
        if (succeeded) {
            checkDurable();
        }
    }

    private void checkDurable() {
        for (Pair pair : pairs) {
            for (int i = 0; i < pair.bytes && pair.written.last() == this; i++) {
                if (handle.of.simulated.durable(pair.fileOffset + i) != pair.data[i]) {
                    throw new Violation("403: byte " + i + " of " + this + " is not durable after a sync");
                }
            }
        }
    }

    @Override
    public String toString() {
        StringBuilder text =
                new StringBuilder(read ? "read" : "write").append(" of ").append(handle.of.simulated.name);
        for (Pair pair : pairs) {
            text.append(' ').append(pair.bytes).append(" at ").append(pair.fileOffset);
            text.append(read ? " to " : " from ").append(pair.bufferOffset);
        }
        return text.toString();
    }
}
