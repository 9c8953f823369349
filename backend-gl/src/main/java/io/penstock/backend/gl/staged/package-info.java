// SPDX-License-Identifier: Apache-2.0
/** The path through mapped staging buffers: path, copies, and the fences behind copies, which the SSG path uses too. */
@NullMarked
package io.penstock.backend.gl.staged;

import org.jspecify.annotations.NullMarked;
