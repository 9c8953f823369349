// SPDX-License-Identifier: Apache-2.0
/** GL buffers that transfers read and write, and mapped staging buffers. Does not depend on any path. */
@NullMarked
package io.penstock.backend.gl.memory;

import org.jspecify.annotations.NullMarked;
