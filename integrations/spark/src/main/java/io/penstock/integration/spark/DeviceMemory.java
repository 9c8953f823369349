// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.Backend;
import io.penstock.BufferRegion;

/**
 * The memory of the executor's device that a row names by its column {@code handle}. The source has that column, in
 * place of {@code bytes}, with the option {@code deviceMemory}; a writer writes what the handles of its rows name.
 *
 * <pre>{@code
 * DeviceMemory memory = DeviceMemory.of(row.<Long>getAs("handle"));
 * long sum = kernel.sum(memory.region());
 * }</pre>
 *
 * <p><b>Ownership:</b> the source frees the memory of a row when the task takes its next row, and the memory of the
 * last row when the rows end or when Spark ends the task for any reason. Work of a device's own queues on it must have
 * ended by then; transfers of Penstock keep what they need. It must not be closed.
 *
 * @param backend the executor's, for transfers and for buffers of the task's own; it must not be closed
 * @param region the bytes, which may be overwritten
 */
public record DeviceMemory(Backend backend, BufferRegion region) {

    /**
     * Returns the memory of a handle.
     *
     * <p><b>Threading:</b> on the thread of the task that read the row; what it returns may be used on any.
     *
     * @throws IllegalStateException if the row is not the row that the task took last, if it was carried to another
     *     task by a shuffle, a cache or a collect, or on another thread
     */
    public static DeviceMemory of(long handle) {
        return TaskMemory.current().get(handle);
    }

    /**
     * Returns a handle of memory of the executor's backend that the task has allocated, for rows that are to be
     * written.
     *
     * <p><b>Threading:</b> on the thread of a task.
     *
     * <p><b>Ownership:</b> stays with the caller, who closes the buffer once the rows have been written, at the latest
     * by a listener of the task. The handle names the memory until the task ends.
     *
     * @throws IllegalStateException on another thread
     */
    public static long handleOf(BufferRegion region) {
        return TaskMemory.current().lend(region);
    }
}
