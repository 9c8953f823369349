// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What to move: one or more pairs of a file region and a target, in one direction. Immutable; moves nothing itself.
 *
 * <p>Transfers are unordered unless they are chained, wait for a fence ({@link #after}) or share an order key
 * ({@link #ordered}). The pairs of one transfer are unordered too and must not overlap where they are written.
 */
public final class Transfer {

    private record Pair(FileRegion file, Target target) {}

    private record Terms(
            List<DeviceFence> after,
            @Nullable DeviceQueue queue,
            @Nullable Object orderKey,
            @Nullable Object tag,
            @Nullable Duration deadline,
            boolean requireDirect) {

        static final Terms NONE = new Terms(List.of(), null, null, null, null, false);

        boolean isPlain() {
            return after.isEmpty() && queue == null && orderKey == null && deadline == null && !requireDirect;
        }
    }

    private final boolean read;
    private final FileRegion firstFile;
    private final Target firstTarget;
    private final Pair @Nullable [] more;
    private final long @Nullable [] offsets; // gather: pair i is firstFile.length() bytes at offsets[i]
    private final Terms terms;

    private Transfer(
            boolean read,
            FileRegion file,
            Target target,
            Pair @Nullable [] more,
            long @Nullable [] offsets,
            Terms terms) {
        this.read = read;
        this.firstFile = file;
        this.firstTarget = target;
        this.more = more;
        this.offsets = offsets;
        this.terms = terms;
    }

    /**
     * Moves bytes of a file to a device.
     *
     * @throws IllegalArgumentException if the two differ in length
     */
    public static Transfer read(FileRegion from, Target to) {
        checkLengths(from, to);
        return new Transfer(true, from, to, null, null, Terms.NONE);
    }

    /**
     * Moves bytes of a device to a file.
     *
     * @throws IllegalArgumentException if the two differ in length
     */
    public static Transfer write(Target from, FileRegion to) {
        checkLengths(to, from);
        return new Transfer(false, to, from, null, null, Terms.NONE);
    }

    /**
     * Reads many blocks of equal length, which land one behind the other in {@code to}: by far the cheapest way to
     * read many small pieces.
     *
     * @param offsets where each block starts in the file; copied
     * @param length the bytes of each block
     * @throws IllegalArgumentException if {@code to} is not {@code offsets.length * length} bytes long
     */
    public static Transfer gather(StorageFile file, long[] offsets, int length, BufferRegion to) {
        if (offsets.length == 0 || length < 1) {
            throw new IllegalArgumentException(
                    "a gather needs at least 1 block of at least 1 byte, had " + offsets.length + " of " + length);
        }
        if ((long) offsets.length * length != to.length()) {
            throw new IllegalArgumentException("the target must have " + (long) offsets.length * length + " bytes for "
                    + offsets.length + " blocks of " + length + ", had " + to.length());
        }
        long[] copy = offsets.clone();
        for (long offset : copy) {
            if (offset < 0 || offset + length < 0) {
                throw new IllegalArgumentException(
                        "offsets must be at least 0, and blocks end within a long, was " + offset);
            }
        }
        return new Transfer(true, file.region(copy[0], length), to, null, copy, Terms.NONE);
    }

    private static void checkLengths(FileRegion file, Target target) {
        if (file.length() != target.length()) {
            throw new IllegalArgumentException("file region and target must have the same length, had " + file.length()
                    + " and " + target.length() + " bytes");
        }
    }

    /**
     * Returns this transfer with one more pair, in the same direction.
     *
     * @throws IllegalArgumentException if the two differ in length, or this transfer is a gather
     */
    public Transfer and(FileRegion file, Target target) {
        return and(List.of(read ? Transfer.read(file, target) : Transfer.write(target, file)));
    }

    /**
     * Returns this transfer with the pairs of others behind its own; their other terms are dropped.
     *
     * @throws IllegalArgumentException if this transfer or one of the others is a gather, or goes the other way
     */
    public Transfer and(List<Transfer> others) {
        List<Pair> pairs = new ArrayList<>();
        check(this);
        for (int i = 1; i < pairs(); i++) {
            pairs.add(new Pair(fileRegion(i), target(i)));
        }
        for (Transfer other : others) {
            check(other);
            for (int i = 0; i < other.pairs(); i++) {
                pairs.add(new Pair(other.fileRegion(i), other.target(i)));
            }
        }
        return new Transfer(read, firstFile, firstTarget, pairs.toArray(new Pair[0]), null, terms);
    }

    private void check(Transfer other) {
        if (other.offsets != null) {
            throw new IllegalArgumentException("a gather cannot be combined with other transfers");
        }
        if (other.read != read) {
            throw new IllegalArgumentException(
                    "all pairs must go in the same direction: " + other + " cannot be added to " + this);
        }
    }

    /** Returns this transfer, to start when the device has passed all of {@code fences}. */
    public Transfer after(DeviceFence... fences) {
        List<DeviceFence> all = new ArrayList<>(terms.after);
        all.addAll(List.of(fences));
        return with(new Terms(
                List.copyOf(all), terms.queue, terms.orderKey, terms.tag, terms.deadline, terms.requireDirect));
    }

    /**
     * Returns this transfer, whose copies between host and device are submitted to a queue of the application's: they run
     * behind what is in it by then, and what the application submits later runs behind them, without the host between. A
     * fence behind the transfer is passed with the queue. A transfer is on one queue; the last call counts.
     *
     * <p>A staged transfer keeps its slots until the queue has come to its copies. What is in the queue before them must not
     * wait for other transfers of the backend: they may need those slots.
     *
     * <p><b>Errors:</b> {@code submit} throws {@link IllegalArgumentException} if the backend does not know the queue, and
     * signals it if the queue belongs to another context of the vendor's, or has no order.
     */
    public Transfer on(DeviceQueue queue) {
        Objects.requireNonNull(queue, "queue");
        return with(new Terms(terms.after, queue, terms.orderKey, terms.tag, terms.deadline, terms.requireDirect));
    }

    /**
     * Returns this transfer, to start when every transfer with an equal key that was subscribed earlier on the same
     * backend has ended.
     */
    public Transfer ordered(Object key) {
        Objects.requireNonNull(key, "key");
        return with(new Terms(terms.after, terms.queue, key, terms.tag, terms.deadline, terms.requireDirect));
    }

    /** Returns this transfer with an object of the caller's that comes back in {@code completion.transfer().tag()}. */
    public Transfer tag(Object tag) {
        Objects.requireNonNull(tag, "tag");
        return with(new Terms(terms.after, terms.queue, terms.orderKey, tag, terms.deadline, terms.requireDirect));
    }

    /**
     * Returns this transfer with a time limit from subscription on. When it passes, the device is asked to stop, and
     * the error is signalled <em>when the device has let go</em>: {@link TransientStorageException} if nothing was
     * started, else {@link PermanentStorageException}, both with their outcome. Reactor's {@code timeout} signals at
     * once instead: after it, the outcome of a write is unknown.
     */
    public Transfer deadline(Duration limit) {
        if (limit.isNegative() || limit.isZero()) {
            throw new IllegalArgumentException("deadline must be positive, was " + limit);
        }
        return with(new Terms(terms.after, terms.queue, terms.orderKey, terms.tag, limit, terms.requireDirect));
    }

    /** Returns this transfer, to fail before any byte is moved unless its path is {@link TransferPath#DIRECT}. */
    public Transfer requireDirect() {
        return with(new Terms(terms.after, terms.queue, terms.orderKey, terms.tag, terms.deadline, true));
    }

    private Transfer with(Terms changed) {
        return new Transfer(read, firstFile, firstTarget, more, offsets, changed);
    }

    /** Returns whether bytes go from the file to the device. */
    public boolean isRead() {
        return read;
    }

    /** Returns whether this is a {@link #gather}. */
    public boolean isGather() {
        return offsets != null;
    }

    /** Returns the number of pairs, at least 1. */
    public int pairs() {
        return offsets != null ? offsets.length : more == null ? 1 : 1 + more.length;
    }

    /** Returns the file side of a pair. */
    public FileRegion fileRegion(int pair) {
        Objects.checkIndex(pair, pairs());
        if (offsets != null && pair != 0) {
            return firstFile.file().region(offsets[pair], firstFile.length());
        }
        return pair == 0 || more == null ? firstFile : more[pair - 1].file;
    }

    /** Returns the device side of a pair. */
    public Target target(int pair) {
        Objects.checkIndex(pair, pairs());
        if (offsets != null) {
            return ((BufferRegion) firstTarget).slice(pair * firstFile.length(), firstFile.length());
        }
        return pair == 0 || more == null ? firstTarget : more[pair - 1].target;
    }

    /** Returns the offset in the file at which a pair starts; as {@code fileRegion(pair).offset()}, without the object. */
    public long fileOffset(int pair) {
        return offsets != null ? offsets[pair] : fileRegion(pair).offset();
    }

    /** Returns the bytes of a pair; as {@code fileRegion(pair).length()}, without the object. */
    public long pairLength(int pair) {
        return offsets != null ? firstFile.length() : fileRegion(pair).length();
    }

    /** Returns the whole device side of a {@link #gather}; else that of the first pair. */
    public Target target() {
        return firstTarget;
    }

    /** Returns the bytes that it takes to complete all pairs. */
    public long length() {
        long sum = firstTarget.length();
        if (more != null) {
            for (Pair pair : more) {
                sum = Math.addExact(sum, pair.target.length());
            }
        }
        return sum;
    }

    /** Returns the fences to wait for. */
    public List<DeviceFence> after() {
        return terms.after;
    }

    /** Returns the queue of the application's that the transfer is on. */
    public Optional<DeviceQueue> queue() {
        return Optional.ofNullable(terms.queue);
    }

    /** Returns the order key. */
    public Optional<Object> orderKey() {
        return Optional.ofNullable(terms.orderKey);
    }

    /** Returns the caller's object. */
    public Optional<Object> tag() {
        return Optional.ofNullable(terms.tag);
    }

    /** Returns the time limit. */
    public Optional<Duration> deadline() {
        return Optional.ofNullable(terms.deadline);
    }

    /** Returns whether the transfer must be direct. */
    public boolean isDirectRequired() {
        return terms.requireDirect;
    }

    /** Returns whether nothing but the pairs and a tag is given: no fence, queue, key, deadline or demand for a path. */
    public boolean isPlain() {
        return terms == Terms.NONE || terms.isPlain();
    }

    /** Returns {@code read of 4096 bytes at 0 of weights.bin}, with the number of pairs where there are several. */
    @Override
    public String toString() {
        String pairs = pairs() > 1 ? ", first of " + pairs() + " pairs" : "";
        return (read ? "read of " : "write of ") + length() + " bytes at " + firstFile.offset() + " of "
                + firstFile.file().path().getFileName() + pairs;
    }
}
