// SPDX-License-Identifier: Apache-2.0
/** Imported fences, and the position of a transfer in the order of the device. Does not depend on memory. */
@NullMarked
package io.penstock.backend.dx11.fence;

import org.jspecify.annotations.NullMarked;
