// SPDX-License-Identifier: Apache-2.0
/**
 * The contract of a device that only copies between its memory and host memory: a
 * {@link io.penstock.engine.spi.staging.StagingDevice} starts copies and tells when they have ended, its
 * {@link io.penstock.engine.spi.staging.ThreadRule} which threads may call it, and a
 * {@link io.penstock.engine.spi.staging.StagingPath} is its path. Files, staging buffers, threads and the order of steps
 * are the engine's.
 */
@NullMarked
package io.penstock.engine.spi.staging;

import org.jspecify.annotations.NullMarked;
