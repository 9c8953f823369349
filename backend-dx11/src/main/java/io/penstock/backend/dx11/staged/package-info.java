// SPDX-License-Identifier: Apache-2.0
/** The path through mapped staging buffers, which every device supports. Does not depend on AMD's interface. */
@NullMarked
package io.penstock.backend.dx11.staged;

import org.jspecify.annotations.NullMarked;
