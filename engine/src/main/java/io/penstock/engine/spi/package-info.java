// SPDX-License-Identifier: Apache-2.0
/**
 * What a backend author writes against: a {@link io.penstock.engine.spi.DeviceDriver} for the device's memory and
 * fences, and a {@link io.penstock.engine.spi.NativeQueue} for each way in which it can move bytes, which carries out
 * {@link io.penstock.engine.spi.Request}s. Scheduling, alignment, short counts, pins, cancellation and delivery are the
 * engine's.
 */
@NullMarked
package io.penstock.engine.spi;

import org.jspecify.annotations.NullMarked;
