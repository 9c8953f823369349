// SPDX-License-Identifier: Apache-2.0
/**
 * Checks of the machine that files and devices are on: what helps, what slows down, and what to do about it. Each class
 * has one topic, and each check is a function of a {@link io.penstock.engine.kit.machine.KernelFiles}, which reads
 * {@code /proc}, {@code /sys} and {@code /run} below a root: this machine's, or a test's. Nothing is changed, and
 * no device is called.
 */
@NullMarked
package io.penstock.cli.doctor;

import org.jspecify.annotations.NullMarked;
