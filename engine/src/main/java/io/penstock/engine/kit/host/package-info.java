// SPDX-License-Identifier: Apache-2.0
/**
 * The host path, for backends with memory that the processor can address: the path and its files. How it reads and
 * writes them is internal.
 */
@NullMarked
package io.penstock.engine.kit.host;

import org.jspecify.annotations.NullMarked;
