// SPDX-License-Identifier: Apache-2.0
/**
 * The path on which the GPU reads the page cache: the path, its queue and the copies. Independent of cuFile.
 */
@NullMarked
package io.penstock.backend.cufile.mapped;

import org.jspecify.annotations.NullMarked;
