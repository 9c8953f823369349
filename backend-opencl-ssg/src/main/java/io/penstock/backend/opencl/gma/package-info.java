// SPDX-License-Identifier: Apache-2.0
/**
 * AMD's DirectGMA, for applications: other devices on the bus write into this device's memory, and it writes into
 * theirs. Not a path for files: depends on contexts and fences, not on paths.
 */
@NullMarked
package io.penstock.backend.opencl.gma;

import org.jspecify.annotations.NullMarked;
