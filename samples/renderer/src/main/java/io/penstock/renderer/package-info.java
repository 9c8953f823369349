// SPDX-License-Identifier: Apache-2.0
/**
 * {@code penstock render} and {@code penstock stream-texture}, and the code that joins their parts: a volume is read
 * slab by slab and composed by the processor or by kernels. Calls to a device's API belong in the package named after
 * it.
 */
@NullMarked
package io.penstock.renderer;

import org.jspecify.annotations.NullMarked;
