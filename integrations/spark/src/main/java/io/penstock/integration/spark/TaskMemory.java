// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.BufferRegion;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/**
 * The device memory that the rows of one task name. For the thread of the task.
 *
 * <p>The handles of a task are a row of numbers from a random one on, so that no other task, of this application or of
 * another, takes one of them for its own.
 *
 * <p><b>Ownership:</b> of nothing but a lease on the backend, which ends with the task.
 */
final class TaskMemory {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Map<TaskContext, TaskMemory> TASKS = new ConcurrentHashMap<>();

    private final TaskContext task;
    private final ExecutorBackend.Lease lease = ExecutorBackend.lease();
    private final Map<Long, BufferRegion> regions = new HashMap<>();
    private final long first = RANDOM.nextLong();
    private long issued;

    private TaskMemory(TaskContext task) {
        this.task = task;
    }

    /** Returns the memory of the calling task. */
    static TaskMemory current() {
        TaskContext task = TaskContext.get();
        if (task == null) {
            throw new IllegalStateException(
                    "a handle of device memory must be used on the thread of a task, was used on "
                            + Thread.currentThread().getName());
        }
        TaskMemory known = TASKS.get(task);
        return known == null ? open(task) : known;
    }

    private static TaskMemory open(TaskContext task) {
        TaskMemory memory = new TaskMemory(task);
        TASKS.put(task, memory);
        task.addTaskCompletionListener((TaskCompletionListener) ended -> {
            TASKS.remove(task);
            memory.lease.close();
        });
        return memory;
    }

    /** Returns a new handle of a region. */
    long lend(BufferRegion region) {
        long handle = first + issued++;
        regions.put(handle, region);
        return handle;
    }

    /** Makes a handle invalid. */
    void end(long handle) {
        regions.remove(handle);
    }

    /**
     * Returns the memory of a handle.
     *
     * @throws IllegalStateException if it has ended, or is not one of this task
     */
    DeviceMemory get(long handle) {
        BufferRegion region = regions.get(handle);
        if (region != null) {
            return new DeviceMemory(lease.device(), region);
        }
        throw new IllegalStateException(
                handle - first >= 0 && handle - first < issued
                        ? "device memory of a row must be used before the task takes its next row, was freed: handle "
                                + handle
                        : "device memory must be used by the task that read its row, before a shuffle, a cache or a"
                                + " collect; task " + task.taskAttemptId() + " of executor "
                                + SparkEnv.get().executorId() + " has none of the handle " + handle);
    }
}
