// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.engine.spi.ssg.SsgFiles;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What the routes and the lane of one backend have in common of AMD's extension: files, memory, the ring, and how much may
 * wait on the device.
 *
 * <p><b>Threading:</b> thread-safe, but for the ring.
 *
 * <p><b>Ownership:</b> the backend, its lane and its slots count as users; the last to {@link #leave} frees all.
 */
final class SsgSession {

    private final ClContext context;
    private final SsgSizes sizes;
    private final SsgFiles files;
    private final PersistentMemory memory;
    private final SsgRing ring;
    private final WaitBudget waits;
    private final AtomicInteger users = new AtomicInteger(1);

    /**
     * Takes the ring's memory, and counts as a user of the context.
     *
     * @throws io.penstock.PenstockException with the driver's answer
     */
    SsgSession(ClContext context, SsgSizes sizes) {
        this.context = context;
        this.sizes = sizes;
        this.files = new SsgFiles((path, write) -> SsgObject.open(context.handle(), path, write));
        context.join();
        PersistentMemory made = null;
        try {
            made = new PersistentMemory(context, sizes.persistentBytes());
            this.ring = new SsgRing(made, sizes);
        } catch (RuntimeException e) {
            if (made != null) {
                made.close();
            }
            context.leave();
            throw e;
        }
        this.memory = made;
        this.waits = new WaitBudget(sizes.depth() / 2, sizes.bytes() / 2);
    }

    ClContext context() {
        return context;
    }

    SsgSizes sizes() {
        return sizes;
    }

    SsgFiles files() {
        return files;
    }

    PersistentMemory memory() {
        return memory;
    }

    SsgRing ring() {
        return ring;
    }

    WaitBudget waits() {
        return waits;
    }

    /** Returns whether commands that wait on the device keep no others from running. */
    boolean runsOutOfOrder() {
        return sizes.queues() == 0 && context.device().orderlessQueues() != 0;
    }

    /** Unmaps a buffer, and waits for that. */
    void unmap(long buffer, long address) {
        memory.unmap(buffer, address);
    }

    /** Counts one more user; only while there is one. */
    void join() {
        users.incrementAndGet();
    }

    /** Counts one user less; the last frees all. */
    void leave() {
        if (users.decrementAndGet() == 0) {
            ring.close();
            memory.close();
            context.leave();
        }
    }
}
