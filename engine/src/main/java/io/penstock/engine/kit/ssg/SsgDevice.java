// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.Target;
import io.penstock.engine.spi.DeviceMemory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * AMD's extension on one device, shared by the paths and the I/O queue of a backend. The engine provides the files, the
 * ring and the queue; a backend adds the calls of its vendor interface.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> the backend, its I/O queue, and the staging buffers and file objects that join it are its users;
 * the last to {@link #leave} frees everything.
 *
 * @param <C> the commands of its queue
 */
public abstract class SsgDevice<C extends SsgCommand> implements SsgFileObject.Opener {

    private final SsgSizes sizes;
    private final SsgTexts texts;
    private final SsgFiles files = new SsgFiles();
    private final List<DeviceMemory> ring = new ArrayList<>();
    private final ArrayDeque<DeviceMemory> free = new ArrayDeque<>(); // buffers of the ring; owned by the I/O queue
    private final AtomicInteger users = new AtomicInteger(1);

    /** Creates a device, of which the caller is the first user. */
    protected SsgDevice(SsgSizes sizes, SsgTexts texts) {
        this.sizes = sizes;
        this.texts = texts;
    }

    /**
     * Allocates the ring, as far as memory allows: buffers that the disk reaches, through which transfers reach the
     * others. The last step before a device is usable.
     *
     * @throws io.penstock.PenstockException with the driver's error; the caller then no longer counts as a user
     */
    public final void fillRing() {
        try {
            for (long bytes = sizes.segmentBytes(); bytes <= sizes.ringBytes(); bytes += sizes.segmentBytes()) {
                DeviceMemory buffer = allocateReachable(sizes.segmentBytes());
                if (buffer == null) {
                    break;
                }
                ring.add(buffer);
            }
            free.addAll(ring);
        } catch (RuntimeException | Error e) {
            leave();
            throw e;
        }
    }

    final long ringBytes() {
        return ring.size() * sizes.segmentBytes();
    }

    /** Returns whether a buffer of the ring is free; the I/O queue. */
    final boolean hasFreeRing() {
        return !free.isEmpty();
    }

    /** Takes a buffer of the ring; the I/O queue. */
    final DeviceMemory takeRing() {
        return free.remove();
    }

    /** Returns a buffer to the ring that the device has released (rule 204); the I/O queue. */
    final void giveRing(DeviceMemory buffer) {
        free.add(buffer);
    }

    /** Adds a user; only while there is one. */
    public final void join() {
        users.incrementAndGet();
    }

    /** Removes a user; the last frees everything. Any thread. */
    public final void leave() {
        if (users.decrementAndGet() == 0) {
            ring.forEach(DeviceMemory::free);
            close();
        }
    }

    /** Returns the sizes of requests and of the ring. */
    public final SsgSizes sizes() {
        return sizes;
    }

    final SsgFiles files() {
        return files;
    }

    final SsgTexts texts() {
        return texts;
    }

    /**
     * Runs a task that reopens a file while transfers wait for it. Runs it at once, unless overridden for a device with
     * its own thread, which may delay it.
     */
    protected void execute(Runnable opening) {
        opening.run();
    }

    /**
     * Returns why the extension takes no transfer between files and a target; an empty string if it is a buffer of this
     * device.
     */
    protected abstract String refusal(Target target, @Nullable DeviceMemory memory);

    /** Returns whether the disk reaches a buffer of this device, so that it needs no ring. */
    protected abstract boolean isReachable(DeviceMemory memory);

    /** Allocates a buffer that the disk reaches, for the ring; returns null if there is no such memory left. */
    protected @Nullable DeviceMemory allocateReachable(long bytes) {
        return null;
    }

    /** As {@link io.penstock.engine.spi.IoPath#allocateBounceBuffer}. */
    protected abstract DeviceMemory allocateBounceBuffer(long bytes);

    /** Opens the device's part of a queue, which takes its commands back. */
    protected abstract SsgCommands<C> openQueue(SsgQueue<C> queue);

    /** Frees its resources; called once, when the last user has left. */
    protected abstract void close();
}
