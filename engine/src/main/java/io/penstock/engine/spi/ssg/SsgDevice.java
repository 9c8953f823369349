// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.Target;
import io.penstock.engine.spi.DeviceMemory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * AMD's extension on one device: what the routes and the lane of a backend share. The engine has the files, the ring and the
 * queue; a backend adds the calls of its vendor interface.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> the backend, its lane, and the slots and file objects that say so count as users; the last to
 * {@link #leave} frees all.
 *
 * @param <C> the commands of its queue
 */
public abstract class SsgDevice<C extends SsgCommand> implements SsgFileObject.Opener {

    private final SsgSizes sizes;
    private final SsgWords words;
    private final SsgFiles files = new SsgFiles();
    private final List<DeviceMemory> ring = new ArrayList<>();
    private final ArrayDeque<DeviceMemory> free = new ArrayDeque<>(); // of it; the lane's
    private final AtomicInteger users = new AtomicInteger(1);

    /** Makes one, of which the caller is the first user. */
    protected SsgDevice(SsgSizes sizes, SsgWords words) {
        this.sizes = sizes;
        this.words = words;
    }

    /**
     * Allocates the ring, as much of it as there is memory for: buffers that the disk reaches, by whose way files reach those
     * that it does not. The last thing that makes a device usable.
     *
     * @throws io.penstock.PenstockException with the driver's answer; the caller's use has ended then
     */
    public final void fillRing() {
        try {
            for (long bytes = sizes.pieceBytes(); bytes <= sizes.ringBytes(); bytes += sizes.pieceBytes()) {
                DeviceMemory buffer = allocateReachable(sizes.pieceBytes());
                if (buffer == null) {
                    break;
                }
                ring.add(buffer);
            }
            free.addAll(ring);
        } catch (RuntimeException e) {
            leave();
            throw e;
        }
    }

    /** Returns the bytes of the ring. */
    final long ringBytes() {
        return ring.size() * sizes.pieceBytes();
    }

    /** Returns whether a buffer of the ring is free; the lane. */
    final boolean hasFreeRing() {
        return !free.isEmpty();
    }

    /** Takes a buffer of the ring; the lane. */
    final DeviceMemory takeRing() {
        return free.remove();
    }

    /** Takes a buffer of the ring back, with which the device is done (rule 204); the lane. */
    final void giveRing(DeviceMemory buffer) {
        free.add(buffer);
    }

    /** Counts one more user; only while there is one. */
    public final void join() {
        users.incrementAndGet();
    }

    /** Counts one user less; the last frees all. Any thread. */
    public final void leave() {
        if (users.decrementAndGet() == 0) {
            ring.forEach(DeviceMemory::free);
            close();
        }
    }

    /** Returns how it splits transfers, and what it has. */
    public final SsgSizes sizes() {
        return sizes;
    }

    final SsgFiles files() {
        return files;
    }

    final SsgWords words() {
        return words;
    }

    /**
     * Runs what opens a file anew while transfers wait for it. Runs it at once, unless overridden for a device with a thread
     * of its own, which may take long to come to it.
     */
    protected void execute(Runnable opening) {
        opening.run();
    }

    /** Returns why the extension takes no transfer between files and a target; an empty string if it is a buffer of this device. */
    protected abstract String refusal(Target target, @Nullable DeviceMemory memory);

    /** Returns whether the disk reaches a buffer of this device, so that it needs no ring. */
    protected abstract boolean isReachable(DeviceMemory memory);

    /** Allocates a buffer that the disk reaches, for the ring; returns null if there is no such memory left. */
    protected @Nullable DeviceMemory allocateReachable(long bytes) {
        return null;
    }

    /** As {@link io.penstock.engine.spi.Route#allocateSlot}. */
    protected abstract DeviceMemory allocateSlot(long bytes);

    /** Opens the device's part of a queue, which takes its commands back. */
    protected abstract SsgCommands<C> openQueue(SsgQueue<C> queue);

    /** Frees what it has; called once, when there is no user any more. */
    protected abstract void close();
}
