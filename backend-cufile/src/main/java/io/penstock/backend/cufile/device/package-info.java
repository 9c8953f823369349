// SPDX-License-Identifier: Apache-2.0
/**
 * A GPU as a device of the engine: which GPU and context options name, its memory, the place of transfers in its order. Knows
 * no path: what a path keeps beside an allocation is an attachment of it.
 */
@NullMarked
package io.penstock.backend.cufile.device;

import org.jspecify.annotations.NullMarked;
