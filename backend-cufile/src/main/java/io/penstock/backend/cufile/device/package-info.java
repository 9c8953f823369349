// SPDX-License-Identifier: Apache-2.0
/**
 * A GPU as a device of the engine: the GPU and context that the options select, its memory, the place of transfers in
 * its order. Does not depend on any path: a path attaches its own state to an allocation.
 */
@NullMarked
package io.penstock.backend.cufile.device;

import org.jspecify.annotations.NullMarked;
