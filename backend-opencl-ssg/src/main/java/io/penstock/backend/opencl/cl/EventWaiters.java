// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.cl;

import io.penstock.PenstockException;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.engine.kit.DaemonThread;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A few threads of the process that block in {@code clWaitForEvents}, each for one event with a waiter: the fastest
 * notification where the device is the processor. No threads run while nothing waits.
 *
 * <p>Not used for user events of the application, which may never be signalled, nor for events of a GPU, whose driver
 * may busy-poll while it waits.
 */
final class EventWaiters {

    private static final int MOST = 4;
    private static final long IDLE_SECONDS = 2;

    private static final AtomicInteger MADE = new AtomicInteger();
    private static final ThreadPoolExecutor THREADS = new ThreadPoolExecutor(
            0,
            MOST,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            work -> new DaemonThread("penstock-opencl-wait-" + MADE.incrementAndGet(), work));

    // By cl_device_id, which is stable for the process: whether the device is the processor. Nothing is cached by
    // queue: the driver may reuse its handle for a queue of another device.
    private static final Map<Long, Boolean> PROCESSORS = new ConcurrentHashMap<>();

    private EventWaiters() {}

    /**
     * Makes a thread wait for an event by {@code await}. Returns false if the event is unsuitable, or all threads are
     * busy. Never blocks.
     */
    static boolean take(long event, Runnable await) {
        if (!suit(event)) {
            return false;
        }
        try {
            THREADS.execute(await);
            return true;
        } catch (RejectedExecutionException | OutOfMemoryError allWait) { // or the system permits no more threads
            return false;
        }
    }

    private static boolean suit(long event) {
        try {
            long queue = Info.event(event).word(OpenCl.CL_EVENT_COMMAND_QUEUE);
            if (queue == 0) {
                return false; // a user event of the application
            }
            long device = Info.queue(queue).word(OpenCl.CL_QUEUE_DEVICE);
            Boolean known = PROCESSORS.get(device);
            return known != null ? known : learn(device);
        } catch (PenstockException unknown) {
            return false; // polling the event will report the error
        }
    }

    private static boolean learn(long device) {
        boolean processor = (Info.device(device).word(OpenCl.CL_DEVICE_TYPE) & OpenCl.CL_DEVICE_TYPE_CPU) != 0;
        PROCESSORS.put(device, processor);
        return processor;
    }
}
