// SPDX-License-Identifier: Apache-2.0
/**
 * The path on which the GPU reads the page cache: the path, its queue, the copies, and the ranges of files that are
 * mapped and registered with the driver. Independent of the file API.
 */
@NullMarked
package io.penstock.backend.gpu.mapped;

import org.jspecify.annotations.NullMarked;
