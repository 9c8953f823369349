// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.PenstockException;
import io.penstock.backend.opencl.ffi.OpenCl;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The few threads of the process that block in {@code clWaitForEvents}, each for one event that somebody waits for: the
 * quickest way to hear of it where the device is the processor. There are none while nobody waits.
 *
 * <p>Not for events that the application sets itself, which may never come to pass, nor for those of a GPU, whose driver may
 * look for them without a pause while it waits.
 */
final class EventWaiters {

    private static final int MOST = 4;
    private static final long IDLE_SECONDS = 2;

    private static final AtomicInteger MADE = new AtomicInteger();
    private static final ThreadPoolExecutor THREADS = new ThreadPoolExecutor(
            0, MOST, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), EventWaiters::thread);

    // By cl_device_id, which stays as long as the process: whether it is the processor. Of a queue nothing is kept, for
    // the driver may give its handle to another one, of another device.
    private static final Map<Long, Boolean> PROCESSORS = new ConcurrentHashMap<>();

    private EventWaiters() {}

    private static Thread thread(Runnable work) {
        Thread thread = new Thread(null, work, "penstock-opencl-wait-" + MADE.incrementAndGet(), 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null); // keeps nobody's classes alive
        return thread;
    }

    /** Has a thread wait for a fence's event; false if it is none for them, or each has one already. Never blocks. */
    static boolean take(ClFence fence) {
        if (!suit(fence.nativeHandle())) {
            return false;
        }
        try {
            THREADS.execute(fence::await);
            return true;
        } catch (RejectedExecutionException allWait) {
            return false;
        }
    }

    private static boolean suit(long event) {
        try {
            Info ofEvent = new Info(
                    "a cl_event",
                    "clGetEventInfo",
                    (name, bytes, value, length) -> OpenCl.clGetEventInfo(event, name, bytes, value, length));
            long queue = ofEvent.word(OpenCl.CL_EVENT_COMMAND_QUEUE);
            if (queue == 0) {
                return false; // the application sets it
            }
            Info ofQueue = new Info(
                    "a cl_command_queue",
                    "clGetCommandQueueInfo",
                    (name, bytes, value, length) -> OpenCl.clGetCommandQueueInfo(queue, name, bytes, value, length));
            long device = ofQueue.word(OpenCl.CL_QUEUE_DEVICE);
            Boolean known = PROCESSORS.get(device);
            return known != null ? known : learn(device);
        } catch (PenstockException unknown) {
            return false; // whoever looks at the event will see what is wrong with it
        }
    }

    private static boolean learn(long device) {
        Info ofDevice = new Info(
                "an OpenCL device",
                "clGetDeviceInfo",
                (name, bytes, value, length) -> OpenCl.clGetDeviceInfo(device, name, bytes, value, length));
        boolean processor = (ofDevice.word(OpenCl.CL_DEVICE_TYPE) & OpenCl.CL_DEVICE_TYPE_CPU) != 0;
        PROCESSORS.put(device, processor);
        return processor;
    }
}
