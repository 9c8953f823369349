// SPDX-License-Identifier: Apache-2.0
/**
 * A GPU as a device of the engine: its memory, the place of transfers in its order. Does not depend on any path: a path
 * attaches its own state to an allocation.
 */
@NullMarked
package io.penstock.backend.gpu.device;

import org.jspecify.annotations.NullMarked;
