// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What to move: one or more pairs of a file region and a target, in one direction. Immutable; a description only.
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
     * Returns a transfer from a file to a device.
     *
     * @throws IllegalArgumentException if the two differ in length
     */
    public static Transfer read(FileRegion from, Target to) {
        checkLengths(from, to);
        return new Transfer(true, from, to, null, null, Terms.NONE);
    }

    /**
     * Returns a transfer from a device to a file.
     *
     * @throws IllegalArgumentException if the two differ in length
     */
    public static Transfer write(Target from, FileRegion to) {
        checkLengths(to, from);
        return new Transfer(false, to, from, null, null, Terms.NONE);
    }

    /**
     * Returns a transfer from buffer to buffer, for the backend of {@code to}; {@code from} may be of any backend. It
     * is a read of {@link DeviceBuffer#asFile from.buffer().asFile()}, and follows the same rules as a read of a file.
     *
     * <p><b>Path:</b> {@link TransferPath#DIRECT} if the device copies: within one device, or from a device that it
     * reaches. {@link TransferPath#HOST} between two buffers in host memory; otherwise {@link TransferPath#STAGED},
     * through host memory.
     *
     * @throws IllegalArgumentException if the two differ in length, or overlap
     */
    public static Transfer copy(BufferRegion from, BufferRegion to) {
        if (from.buffer() == to.buffer()
                && from.offset() < to.offset() + to.length()
                && to.offset() < from.offset() + from.length()) {
            throw new IllegalArgumentException("the regions of a copy must not overlap, were " + from.length()
                    + " bytes at " + from.offset() + " and at " + to.offset() + " of " + to.buffer());
        }
        return read(from.buffer().asFile().region(from.offset(), from.length()), to);
    }

    /**
     * Returns a transfer that reads many blocks of equal length into {@code to}, one after the other: by far the
     * cheapest way to read many small blocks.
     *
     * @param offsets where each block starts in the file; copied
     * @param length the bytes of each block
     * @throws IllegalArgumentException if {@code to} is not {@code offsets.length * length} bytes long
     */
    public static Transfer gather(StorageFile file, long[] offsets, int length, BufferRegion to) {
        if (offsets.length == 0 || length < 1) {
            throw new IllegalArgumentException(
                    "a gather must have at least 1 block of at least 1 byte, had " + offsets.length + " of " + length);
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
     * Returns this transfer with the pairs of others after its own; their other terms are dropped.
     *
     * @throws IllegalArgumentException if this transfer or one of the others is a gather, or if the directions differ
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

    /** Returns this transfer, to start when all of {@code fences} are signalled. */
    public Transfer after(DeviceFence... fences) {
        List<DeviceFence> all = new ArrayList<>(terms.after);
        all.addAll(List.of(fences));
        return with(new Terms(
                List.copyOf(all), terms.queue, terms.orderKey, terms.tag, terms.deadline, terms.requireDirect));
    }

    /**
     * Returns this transfer, whose copies between host and device are submitted to a queue of the application. They run
     * after the work that is in it by then, and work that the application submits later runs after them, without host
     * involvement. A fence behind the transfer is signalled in the order of the queue. A transfer is on one queue; the
     * last call counts.
     *
     * <p>A staged transfer keeps its bounce buffers until the queue has executed its copies. Work before them in the
     * queue must not wait for other transfers of the backend: those may need the same bounce buffers.
     *
     * <p><b>Errors:</b> {@code submit} throws {@link IllegalArgumentException} if the queue is of an unknown kind, and
     * signals it if the queue belongs to another context of the vendor, or is not in-order.
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

    /** Returns this transfer with an object of the caller, available again as {@code completion.transfer().tag()}. */
    public Transfer tag(Object tag) {
        Objects.requireNonNull(tag, "tag");
        return with(new Terms(terms.after, terms.queue, terms.orderKey, tag, terms.deadline, terms.requireDirect));
    }

    /**
     * Returns this transfer with a time limit from subscription on. When it expires, the device is told to stop, and
     * the error is signalled <em>when the device has released the memory</em>: {@link TransientStorageException} if
     * nothing was started, else {@link PermanentStorageException}, both with their outcome. Reactor's {@code timeout}
     * signals at once instead: after it, the outcome of a write is unknown.
     */
    public Transfer deadline(Duration limit) {
        if (limit.isNegative() || limit.isZero()) {
            throw new IllegalArgumentException("deadline must be positive, was " + limit);
        }
        return with(new Terms(terms.after, terms.queue, terms.orderKey, terms.tag, limit, terms.requireDirect));
    }

    /** Returns this transfer, which fails before any byte is moved unless its path is {@link TransferPath#DIRECT}. */
    public Transfer requireDirect() {
        return with(new Terms(terms.after, terms.queue, terms.orderKey, terms.tag, terms.deadline, true));
    }

    private Transfer with(Terms changed) {
        return new Transfer(read, firstFile, firstTarget, more, offsets, changed);
    }

    /** Returns whether bytes move from the file to the device. */
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

    /**
     * Returns the offset in the file at which a pair starts; as {@code fileRegion(pair).offset()}, without an
     * allocation.
     */
    public long fileOffset(int pair) {
        return offsets != null ? offsets[pair] : fileRegion(pair).offset();
    }

    /** Returns the bytes of a pair; as {@code fileRegion(pair).length()}, without an allocation. */
    public long pairLength(int pair) {
        return offsets != null ? firstFile.length() : fileRegion(pair).length();
    }

    /** Returns the whole device side of a {@link #gather}; else the target of the first pair. */
    public Target target() {
        return firstTarget;
    }

    /** Returns the bytes of all pairs. */
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

    /** Returns the application's queue, if one was set with {@link #on}. */
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

    /** Returns whether only the pairs and a tag are set: no fence, queue, key, deadline or required path. */
    public boolean isPlain() {
        return terms == Terms.NONE || terms.isPlain();
    }

    /** Returns {@code read of 4096 bytes at 0 of /data/weights.bin}, with the number of pairs if there are several. */
    @Override
    public String toString() {
        String pairs = pairs() > 1 ? ", first of " + pairs() + " pairs" : "";
        return (read ? "read of " : "write of ") + length() + " bytes at " + firstFile.offset() + " of "
                + firstFile.file().path() + pairs;
    }
}
