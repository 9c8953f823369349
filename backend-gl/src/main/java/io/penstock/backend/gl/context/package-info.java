// SPDX-License-Identifier: Apache-2.0
/**
 * A GL context and the one thread that may call GL in it; its properties, errors and buffer calls. Depends on neither
 * the sources of contexts nor any option.
 */
@NullMarked
package io.penstock.backend.gl.context;

import org.jspecify.annotations.NullMarked;
