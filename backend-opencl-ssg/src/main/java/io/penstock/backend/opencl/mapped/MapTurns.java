// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.mapped;

import io.penstock.backend.opencl.context.ClContext;
import io.penstock.engine.kit.SharedContext;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Serializes maps of overlapping ranges in a context's buffers. OpenCL leaves overlapping ranges that are mapped for
 * writing undefined, and drivers identify a map by its address only.
 *
 * <p>First come, first served, so that no task starves. The holder of a range waits for no other, so that every task
 * gets its turn.
 *
 * <p><b>Threading:</b> thread-safe; shared by the I/O queues of the context.
 */
final class MapTurns implements SharedContext.Part {

    private final List<MapTask> holders = new ArrayList<>(); // guarded by this, as all below
    private final List<MapTask> waiting = new ArrayList<>();

    /** Returns the turns of a context. */
    static MapTurns of(ClContext context) {
        return context.part(MapTurns.class, made -> new MapTurns());
    }

    /** Takes the range of a task; returns false if it has to wait, and then passes it to its queue later. */
    synchronized boolean enter(MapTask task) {
        if (overlaps(holders, task) || overlaps(waiting, task)) {
            waiting.add(task);
            return false;
        }
        holders.add(task);
        return true;
    }

    private static boolean overlaps(List<MapTask> others, MapTask task) {
        for (int i = 0; i < others.size(); i++) {
            if (others.get(i).overlaps(task)) {
                return true;
            }
        }
        return false;
    }

    /** Removes a waiting task; returns false if its turn has come meanwhile. */
    synchronized boolean remove(MapTask task) {
        if (waiting.remove(task)) {
            grant();
            return true;
        }
        return false;
    }

    /** Releases a range, which is no longer mapped. */
    synchronized void leave(MapTask task) {
        int last = holders.size() - 1;
        holders.set(holders.indexOf(task), holders.get(last));
        holders.remove(last);
        if (!waiting.isEmpty()) {
            grant();
        }
    }

    private void grant() {
        List<MapTask> before = new ArrayList<>();
        for (Iterator<MapTask> all = waiting.iterator(); all.hasNext(); ) {
            MapTask next = all.next();
            if (overlaps(holders, next) || overlaps(before, next)) {
                before.add(next);
            } else {
                all.remove();
                holders.add(next);
                next.turnReached();
            }
        }
    }
}
