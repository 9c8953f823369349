// SPDX-License-Identifier: Apache-2.0
/** What only the engine calls: io_uring's binary interface and Windows' file functions, as the vendor spells them. */
@NullMarked
package io.penstock.engine.ffi;

import org.jspecify.annotations.NullMarked;
