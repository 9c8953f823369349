// SPDX-License-Identifier: Apache-2.0
/**
 * A GPU's driver: contexts and their parts, GPUs, streams, events as fences. Depends on the tables only, not on memory
 * or files.
 */
@NullMarked
package io.penstock.backend.gpu.context;

import org.jspecify.annotations.NullMarked;
