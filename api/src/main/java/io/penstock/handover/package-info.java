// SPDX-License-Identifier: Apache-2.0
/** How a resource reaches a subscriber that may cancel. Not promised: exported to the engine only. */
@NullMarked
package io.penstock.handover;

import org.jspecify.annotations.NullMarked;
