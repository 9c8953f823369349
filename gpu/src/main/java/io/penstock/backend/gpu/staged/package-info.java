// SPDX-License-Identifier: Apache-2.0
/**
 * The path through pinned staging buffers: the buffers, the streams on which they are copied, and the copies.
 * Independent of the file API. The other paths take their bounce buffers from here.
 */
@NullMarked
package io.penstock.backend.gpu.staged;

import org.jspecify.annotations.NullMarked;
