// SPDX-License-Identifier: Apache-2.0
/**
 * Measures transfers of one file, as fio and gdsio do: jobs that keep a number of blocks in flight on a device, the
 * rate, the latencies and the processor time of them, and the options that serve a machine best.
 */
@NullMarked
package io.penstock.cli.bench;

import org.jspecify.annotations.NullMarked;
