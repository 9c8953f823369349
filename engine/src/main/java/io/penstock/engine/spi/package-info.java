// SPDX-License-Identifier: Apache-2.0
/**
 * What a backend is written against: a {@link io.penstock.engine.spi.DeviceDriver} for the device's memory and fences, and for
 * each way in which it can move bytes a {@link io.penstock.engine.spi.Route}, whose
 * {@link io.penstock.engine.spi.NativeQueue} carries out {@link io.penstock.engine.spi.Request}s. Scheduling, alignment, short
 * counts, pins, cancellation and delivery are the engine's. {@link io.penstock.engine.Engine} makes a backend of the two.
 *
 * <p>This package and those below it are all that a backend needs: {@code spi.staging} for devices that are fed through
 * slots, {@code spi.fence} for vendors' events, {@code spi.ffi} for native calls.
 * The engine's other packages are internal, and change without notice.
 */
@NullMarked
package io.penstock.engine.spi;

import org.jspecify.annotations.NullMarked;
