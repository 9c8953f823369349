// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The command queues of one lane: one out of order, or several in order, among which commands take turns.
 *
 * <p><b>Threading:</b> the lane's, but for making.
 */
final class SsgQueues {

    /** In order where the device has nothing better: each gives the disk one command at a time. */
    private static final int IN_ORDER = 4;

    private final long[] queues;
    private final boolean[] dirty; // has commands that were not flushed
    private final List<Long> others = new ArrayList<>(0); // of the application's, the same
    private int next;

    /**
     * Makes them.
     *
     * @throws io.penstock.PenstockException with the driver's answer
     */
    SsgQueues(ClSsg ssg) {
        boolean orderless = ssg.runsOutOfOrder();
        int count = ssg.queues() > 0 ? ssg.queues() : orderless ? 1 : IN_ORDER;
        long properties = orderless ? ssg.context().device().orderlessQueues() : 0;
        queues = new long[count];
        dirty = new boolean[count];
        try {
            for (int i = 0; i < count; i++) {
                queues[i] = ssg.context().createQueue(properties);
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Returns the queue for the next command, all steps of which go there: one of ours, or the application's. */
    long next(@Nullable ClPoint point) {
        long wanted = point == null ? 0 : point.queue(0);
        if (wanted != 0) {
            others.add(wanted);
            return wanted;
        }
        next = (next + 1) % queues.length;
        dirty[next] = true;
        return queues[next];
    }

    /** Hands what was queued to the device, where it then ends by itself. */
    void flush() {
        others.forEach(OpenCl::clFlush);
        others.clear();
        for (int i = 0; i < queues.length; i++) {
            if (dirty[i]) {
                dirty[i] = false;
                if (OpenCl.clFlush(queues[i]) != OpenClError.SUCCESS) {
                    OpenCl.clFinish(queues[i]); // what may be under way ends, and says itself how
                }
            }
        }
    }

    void close() {
        Arrays.stream(queues).filter(queue -> queue != 0).forEach(OpenCl::clReleaseCommandQueue);
    }
}
