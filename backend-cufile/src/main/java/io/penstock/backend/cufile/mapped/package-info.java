// SPDX-License-Identifier: Apache-2.0
/**
 * The path on which the GPU reads the page cache: the route, its queue and the copies. Knows nothing of cuFile.
 */
@NullMarked
package io.penstock.backend.cufile.mapped;

import org.jspecify.annotations.NullMarked;
