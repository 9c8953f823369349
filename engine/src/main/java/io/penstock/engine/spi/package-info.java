// SPDX-License-Identifier: Apache-2.0
/**
 * The SPI that a backend implements: a {@link io.penstock.engine.spi.DeviceDriver} for the device's memory and fences,
 * and for each path an {@link io.penstock.engine.spi.IoPath}, whose {@link io.penstock.engine.spi.NativeQueue} executes
 * {@link io.penstock.engine.spi.Request}s. The engine handles scheduling, alignment, short counts, pins, cancellation
 * and delivery. {@link io.penstock.engine.Engine} creates a backend from the two.
 *
 * <p>This package and its subpackages are all that a backend needs: {@code spi.staging} for devices that are reached
 * through staging buffers, {@code spi.host} for memory that the processor reaches, {@code spi.memory} and
 * {@code spi.file} for the host's memory and files, {@code spi.fence} for vendors' events, {@code spi.ffi} for native
 * calls. The engine's other packages are internal, and change without notice.
 */
@NullMarked
package io.penstock.engine.spi;

import org.jspecify.annotations.NullMarked;
