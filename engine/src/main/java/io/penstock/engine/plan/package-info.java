// SPDX-License-Identifier: Apache-2.0
/**
 * The planner: cuts a transfer into segments, and computes the ranges that it covers and its contiguous progress.
 * Arithmetic on regions and limits; does not depend on the engine's files, buffers, threads or queues.
 */
@NullMarked
package io.penstock.engine.plan;

import org.jspecify.annotations.NullMarked;
