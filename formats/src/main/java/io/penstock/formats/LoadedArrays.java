// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.DeviceBuffer;
import io.penstock.TransferPath;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Arrays in device memory, and the owner of that memory.
 *
 * <p><b>Ownership:</b> the caller that loaded them closes them, before or with the backend. Closing frees the memory of
 * all arrays, after the transfers that still use it. Thread-safe.
 */
public final class LoadedArrays implements AutoCloseable {

    /**
     * The owner of several buffers. A buffer that is added after the set was closed is closed at once, so that a
     * cancel which overtakes an allocation leaves nothing. Thread-safe.
     */
    static final class BufferSet implements AutoCloseable {

        private final List<DeviceBuffer> buffers = new ArrayList<>(); // guarded by this
        private boolean closed; // guarded by this

        void add(DeviceBuffer buffer) {
            synchronized (this) {
                if (!closed) {
                    buffers.add(buffer);
                    return;
                }
            }
            buffer.close();
        }

        synchronized List<DeviceBuffer> buffers() {
            return List.copyOf(buffers);
        }

        /** Closes all buffers; a second call does nothing. */
        @Override
        public void close() {
            List<DeviceBuffer> owned;
            synchronized (this) {
                closed = true;
                owned = List.copyOf(buffers);
                buffers.clear();
            }
            owned.forEach(DeviceBuffer::close);
        }
    }

    private final LoadPlan plan;
    private final BufferSet owner;
    private final List<DeviceArray> arrays;
    private @Nullable Map<String, Integer> numbers; // of the arrays, by name; made by the first search; guarded by this
    private final Set<TransferPath> paths;
    private final long nanos;

    LoadedArrays(LoadPlan plan, BufferSet owner, List<DeviceArray> arrays, Set<TransferPath> paths, long nanos) {
        this.plan = plan;
        this.owner = owner;
        this.arrays = arrays;
        this.paths = paths;
        this.nanos = nanos;
    }

    /**
     * Returns the array of that name.
     *
     * @throws NoSuchElementException if none of that name was loaded
     */
    public DeviceArray get(String name) {
        return find(name)
                .orElseThrow(() -> new NoSuchElementException(
                        "there is no array " + name + " among the " + arrays.size() + " that were loaded"));
    }

    /** Returns the array of that name, if it was loaded. */
    public Optional<DeviceArray> find(String name) {
        return Optional.ofNullable(numbers().get(name)).map(arrays::get);
    }

    private synchronized Map<String, Integer> numbers() {
        Map<String, Integer> made = numbers;
        if (made == null) {
            made = new HashMap<>(2 * arrays.size());
            for (LoadPlan.Placement placement : plan.arrays()) {
                made.put(placement.array().name(), made.size());
            }
            numbers = made;
        }
        return made;
    }

    /**
     * Returns the arrays, in the order in which they lie in their files; another object, but an equal one, each time.
     */
    public List<DeviceArray> arrays() {
        return arrays;
    }

    /** Returns the bytes of all arrays. */
    public long bytes() {
        return plan.bytes();
    }

    /** Returns why arrays that were to be loaded cannot be read, by name, as {@link LoadPlan#leftOut} does. */
    public Map<String, String> leftOut() {
        return plan.leftOut();
    }

    /** Returns what happened to arrays in memory of the host, as {@link LoadPlan#conversions} does. */
    public Set<String> conversions() {
        return plan.conversions();
    }

    /** Returns the paths of the transfers; none if all arrays passed through memory of the host. */
    public Set<TransferPath> paths() {
        return paths;
    }

    /** Returns the time from the allocation of the memory to the arrival of the last byte, in nanoseconds. */
    public long nanos() {
        return nanos;
    }

    /** Frees the memory of all arrays; a second call does nothing. */
    @Override
    public void close() {
        owner.close();
    }
}
