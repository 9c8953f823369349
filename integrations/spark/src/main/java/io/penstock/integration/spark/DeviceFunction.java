// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.Backend;
import io.penstock.Chunk;
import java.io.Serializable;
import org.reactivestreams.Publisher;

/**
 * What {@link DeviceTasks} does with a chunk of a region: for example, it starts a kernel and emits what that computed.
 *
 * @param <T> the rows that it emits
 */
@FunctionalInterface
public interface DeviceFunction<T> extends Serializable {

    /**
     * Returns the rows of a chunk, as the function of {@link Backend#stream} does.
     *
     * <p><b>Threading:</b> called on the delivery scheduler of the backend, for one chunk of a task at a time, not on
     * the thread of the task: {@code TaskContext.get()} is null.
     *
     * <p><b>Errors:</b> errors of the publisher, and what is thrown, fail the task.
     *
     * <p><b>Cancellation:</b> Spark stops a task: the publisher is cancelled.
     *
     * <p><b>Ownership:</b> the chunk is leased until the publisher ends. Nothing of it may be emitted but values.
     *
     * @param region what the chunk is a part of; {@link Chunk#fileOffset} is the chunk's place in the file
     * @param chunk the bytes, in device memory
     * @param backend the backend of the executor, for buffers of the function's own; it must not be closed
     */
    Publisher<T> apply(Region region, Chunk chunk, Backend backend);
}
