// SPDX-License-Identifier: Apache-2.0
/** GLsyncs: as fences, and as the position of a transfer in the order of a context. Does not depend on any path. */
@NullMarked
package io.penstock.backend.gl.fence;

import org.jspecify.annotations.NullMarked;
