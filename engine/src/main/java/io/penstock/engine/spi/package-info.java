// SPDX-License-Identifier: Apache-2.0
/**
 * The contract of a backend. A backend implements:
 *
 * <ul>
 *   <li>a {@link io.penstock.engine.spi.DeviceDriver}: the device's memory, as
 *     {@link io.penstock.engine.spi.DeviceMemory}, and its fences, as {@link io.penstock.engine.spi.FencePoint};
 *   <li>for each way between a file and that memory an {@link io.penstock.engine.spi.IoPath}. It opens files, as
 *     {@link io.penstock.engine.spi.NativeFile}, states its {@link io.penstock.engine.spi.Limits}, and opens queues;
 *   <li>a {@link io.penstock.engine.spi.NativeQueue}, which executes {@link io.penstock.engine.spi.Request}s: each ends
 *     once, by {@code complete} or by {@code fail} with a {@link io.penstock.engine.spi.NativeFailure}. A queue that
 *     waits for a device is woken by its {@link io.penstock.engine.spi.Wakeup}.
 * </ul>
 *
 * <p>A device that only copies between its memory and host memory implements none of the last two: it extends
 * {@code spi.staging}'s StagingPath, and supplies the copy. {@code samples/backend-template} does that in 150 lines.
 *
 * <p><b>What the engine does:</b> scheduling, cutting, alignment, short counts, retries, pins, cancellation, deadlines
 * and delivery. {@link io.penstock.engine.Engine} creates a backend from a driver and its paths.
 *
 * <p><b>Threading:</b> a queue's methods are called by the one thread that has the queue; a driver's by any thread.
 * <b>Ownership:</b> memory, files and staging buffers of a request belong to the backend from {@code enqueue} until the
 * request ends, which must be after the native operation.
 *
 * <p>{@code io.penstock.engine.kit} is a toolbox beside the contract. The engine's other packages are internal, and
 * change without notice.
 */
@NullMarked
package io.penstock.engine.spi;

import org.jspecify.annotations.NullMarked;
