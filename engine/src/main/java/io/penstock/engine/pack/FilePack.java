// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.pack;

import io.penstock.DeviceBuffer;
import io.penstock.Pack;
import io.penstock.engine.host.whole.WholeFile;
import io.penstock.engine.queue.Port;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.spi.DeviceMemory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A pack: filled by the thread of its subscription, copied to the device if the processor cannot address that, and then
 * the subscriber's.
 *
 * <p><b>Ownership:</b> its buffer is pinned while files are read into it, since the backend may be closed meanwhile.
 */
final class FilePack implements Pack {

    private static final int ALIGNMENT = 64; // also the least that an entry counts, so that every pack has an end

    private final EngineBuffer buffer;
    private final DeviceMemory memory; // of the host: the buffer's own, or what is copied to it
    private final Runnable closed;
    private final List<Entry> entries = new ArrayList<>();
    private final AtomicBoolean open = new AtomicBoolean(true);
    private String means = "io_uring";
    private boolean pinned;
    private long used;
    private int pending; // files being read
    private boolean full; // no file is added any more

    // Written before the subscription is signalled, and read in its turns.
    private volatile boolean filled;
    private boolean dropped; // written before filled
    private volatile @Nullable Throwable failure;

    private FilePack(EngineBuffer buffer, DeviceMemory memory, Runnable closed) {
        this.buffer = buffer;
        this.memory = memory;
        this.closed = closed;
    }

    /** Begins a pack, pinned; throws if there is no memory, or the backend is closed. */
    static FilePack begin(Port port, long bytes, Runnable closed) {
        EngineBuffer buffer = (EngineBuffer) port.allocateNow(bytes);
        try {
            DeviceMemory own = buffer.memory();
            int general = port.ioPaths().size() - 1;
            DeviceMemory host =
                    own.hostAddress() != 0 ? own : port.ioPaths().get(general).allocateBounceBuffer(bytes);
            FilePack pack = new FilePack(buffer, host, closed);
            pack.pin();
            return pack;
        } catch (RuntimeException | Error e) {
            buffer.close();
            throw e;
        }
    }

    /** Pins its buffer, for the processor's writes; throws if the backend has been closed. */
    void pin() {
        if (!buffer.pins().tryPin()) {
            throw Failures.closed("reading of files", "the backend");
        }
        pinned = true;
    }

    void unpin() {
        if (pinned) {
            pinned = false;
            buffer.pins().unpin();
        }
    }

    /** Returns whether a file of so many bytes has room. */
    boolean has(long bytes) {
        return used < buffer.length() && used + bytes <= buffer.length();
    }

    /** Adds a file that is open, and places it; returns the index of its entry. */
    int add(WholeFile file) {
        file.place(memory, used);
        entries.add(new Entry(file.path(), used, file.bytes()));
        used += Math.max(ALIGNMENT, (file.bytes() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
        return entries.size() - 1;
    }

    /** Adds a file that is not read. */
    void addFailed(WholeFile file, Exception why) {
        entries.add(new Entry(file.path(), 0, 0, why));
        used += ALIGNMENT;
    }

    void reads() {
        pending++;
    }

    /** Notes that a file of an entry was read, or was not. */
    void read(int entry, WholeFile file) {
        pending--;
        Exception error = file.error();
        if (error != null) {
            entries.set(entry, new Entry(file.path(), 0, 0, error));
        } else if (!file.reason().isEmpty()) {
            means = file.reason();
        }
    }

    /** Adds no more files. */
    void end() {
        full = true;
    }

    /** Returns whether all its files have been read. */
    boolean isRead() {
        return full && pending == 0;
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    long used() {
        return Math.min(used, buffer.length());
    }

    /** Returns the memory that files are read into, if it is not the buffer's own. */
    @Nullable
    DeviceMemory staging() {
        return memory == buffer.memory() ? null : memory;
    }

    EngineBuffer target() {
        return buffer;
    }

    /** Frees what only the filling has used. */
    void release() {
        if (memory != buffer.memory()) {
            memory.free();
        }
        unpin();
    }

    /** Ends the filling, with or without an error; any thread. */
    void filled(@Nullable Throwable error) {
        failure = error;
        filled = true;
    }

    /** Ends the filling of a pack that nobody gets. */
    void drop() {
        release();
        dropped = true;
        filled = true;
    }

    boolean isDropped() {
        return dropped;
    }

    boolean isFilled() {
        return filled;
    }

    @Nullable
    Throwable failure() {
        return failure;
    }

    @Override
    public DeviceBuffer buffer() {
        return buffer;
    }

    @Override
    public List<Entry> entries() {
        return Collections.unmodifiableList(entries);
    }

    @Override
    public String means() {
        return means;
    }

    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            buffer.close();
            closed.run();
        }
    }

    @Override
    public String toString() {
        return "pack of " + entries.size() + " files in a " + buffer;
    }
}
