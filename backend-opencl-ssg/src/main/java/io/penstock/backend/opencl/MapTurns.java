// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Who may map which range of a context's buffers: nobody maps what overlaps another's. OpenCL leaves it open what happens
 * where ranges that are mapped for writing overlap, and drivers find a map by its address alone.
 *
 * <p>In the order of asking, so that nobody starves. Who has a range waits for no other, so that all get their turn.
 *
 * <p><b>Threading:</b> thread-safe; lanes of several queues meet here.
 */
final class MapTurns {

    private final List<MapTask> holders = new ArrayList<>(); // guarded by this, as all below
    private final List<MapTask> waiting = new ArrayList<>();

    /** Takes the range of a task; false if it has to wait, and is handed to its queue later. */
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

    /** Forgets a task that waits; false if its turn has come meanwhile. */
    synchronized boolean forget(MapTask task) {
        if (waiting.remove(task)) {
            grant();
            return true;
        }
        return false;
    }

    /** Gives a range back, which is no longer mapped. */
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
                next.turnHasCome();
            }
        }
    }
}
