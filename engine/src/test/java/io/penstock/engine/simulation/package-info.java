// SPDX-License-Identifier: Apache-2.0
/**
 * A kernel, its files, memory, time and threads, all decided by one seed, around the real driver, planner and
 * operators. Entry: {@link io.penstock.engine.simulation.Simulation}; the page is {@code docs/testing.md}.
 */
@NullMarked
package io.penstock.engine.simulation;

import org.jspecify.annotations.NullMarked;
