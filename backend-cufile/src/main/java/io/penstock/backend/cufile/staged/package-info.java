// SPDX-License-Identifier: Apache-2.0
/**
 * The path through pinned slots: slots, the streams that they are copied on, and the copies. Knows nothing of cuFile. The other
 * paths take their bounce slots from here.
 */
@NullMarked
package io.penstock.backend.cufile.staged;

import org.jspecify.annotations.NullMarked;
