// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of many files, one behind the other in one buffer of device memory, and an index of them: see
 * {@link Backend#pack}.
 *
 * <p><b>Ownership:</b> the receiver closes the pack, and with it the buffer. The index stays readable.
 */
public interface Pack extends AutoCloseable {

    /** Returns the memory of all its files. */
    DeviceBuffer buffer();

    /** Returns the index: an entry for each path, in the order of the paths. */
    List<Entry> entries();

    /**
     * Returns by what means its files were read: io_uring, or why some of them, or all, went by blocking calls. Empty if
     * that is not known.
     */
    default String means() {
        return "";
    }

    /** Returns the memory of one file; empty for one that could not be read. */
    default BufferRegion region(Entry entry) {
        return buffer().region(entry.offset, entry.length);
    }

    @Override
    void close();

    /**
     * Returns a pack of a buffer that the application has filled, for {@link Backend#unpack}.
     *
     * @param entries where each file lies in {@code buffer}, and where it is to be written
     * @throws IndexOutOfBoundsException if an entry does not lie inside the buffer
     */
    static Pack of(DeviceBuffer buffer, List<Entry> entries) {
        entries.forEach(entry -> Objects.checkFromIndexSize(entry.offset, entry.length, buffer.length()));
        return new Named(buffer, List.copyOf(entries), buffer::close);
    }

    /**
     * Returns this pack with other paths, such as the targets of a copy, for {@link Backend#unpack}. To close it closes
     * this one.
     */
    default Pack at(Function<? super Path, ? extends Path> paths) {
        List<Entry> named = entries().stream()
                .map(entry -> entry.at(paths.apply(entry.path())))
                .toList();
        return new Named(buffer(), named, this::close);
    }

    /** A pack with an index of the application's. */
    record Named(DeviceBuffer buffer, List<Entry> entries, Runnable closing) implements Pack {

        @Override
        public void close() {
            closing.run();
        }
    }

    /**
     * One file of a pack.
     *
     * @param path as it was given
     * @param offset in bytes from the start of the buffer, a multiple of 64 where {@link Backend#pack} has chosen it
     * @param length in bytes; 0 if there is an error
     * @param error why the file was not read, or not written; null if it was
     */
    record Entry(
            Path path, long offset, long length, @Nullable Exception error) {

        public Entry {
            Objects.requireNonNull(path, "path");
            Objects.checkFromIndexSize(offset, length, Long.MAX_VALUE);
        }

        /** Creates the entry of a file without an error. */
        public Entry(Path path, long offset, long length) {
            this(path, offset, length, null);
        }

        /** Returns the same bytes under another path. */
        public Entry at(Path other) {
            return new Entry(other, offset, length, error);
        }
    }

    /**
     * How {@link Backend#pack} fills packs. Immutable.
     *
     * @param packBytes the bytes of one pack, and so the most that one file may have
     * @param depth how many packs are open at a time, those being filled included: the next is begun when one has been
     *     closed. Together they are the memory of a subscription
     * @param inFlight how many files are being opened and read at a time
     * @param directDelivery whether packs are delivered on the thread that has filled them, which saves a hop; the
     *     subscriber must not block
     */
    record Plan(long packBytes, int depth, int inFlight, boolean directDelivery) {

        /** 8 MiB in each of 4 packs, and 64 files in flight; delivered on the backend's scheduler. */
        public static final Plan DEFAULT = new Plan(8 << 20, 4, 64, false);

        private static final int MOST_IN_FLIGHT = 4096;

        public Plan {
            if (packBytes < 1 || packBytes > Integer.MAX_VALUE) {
                throw new IllegalArgumentException(
                        "packBytes must be 1 to " + Integer.MAX_VALUE + ", was " + packBytes);
            }
            if (depth < 1) {
                throw new IllegalArgumentException("depth must be at least 1 pack, was " + depth);
            }
            if (inFlight < 1 || inFlight > MOST_IN_FLIGHT) {
                throw new IllegalArgumentException("inFlight must be 1 to " + MOST_IN_FLIGHT + ", was " + inFlight);
            }
        }

        /** Returns this plan with another size of packs. */
        public Plan packBytes(long bytes) {
            return new Plan(bytes, depth, inFlight, directDelivery);
        }

        /** Returns this plan with another number of packs that are open at a time. */
        public Plan depth(int packs) {
            return new Plan(packBytes, packs, inFlight, directDelivery);
        }

        /** Returns this plan with another number of files in flight. */
        public Plan inFlight(int files) {
            return new Plan(packBytes, depth, files, directDelivery);
        }

        /** Returns this plan, with delivery on the thread that fills packs: the subscriber must not block. */
        public Plan direct() {
            return new Plan(packBytes, depth, inFlight, true);
        }
    }

    /**
     * How {@link Backend#unpack} writes files. Immutable.
     *
     * @param replaces whether a file that has the name already is replaced, which is an error of its entry else
     * @param syncs whether a file, and its name, are durable when its entry is emitted; each folder is synced once for a
     *     pack
     */
    record Writing(boolean replaces, boolean syncs) {

        /** New files, not durable. */
        public static final Writing DEFAULT = new Writing(false, false);

        /** Returns this, with files that are replaced. */
        public Writing replacing() {
            return new Writing(true, syncs);
        }

        /** Returns this, with files that are durable. */
        public Writing sync() {
            return new Writing(replaces, true);
        }
    }
}
