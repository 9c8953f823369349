// SPDX-License-Identifier: Apache-2.0
/** What docs/hand-over.md quotes: buffers as memory of other libraries. */
@NullMarked
package io.penstock.handover;

import org.jspecify.annotations.NullMarked;
