// SPDX-License-Identifier: Apache-2.0
/**
 * Native interfaces that only the engine calls: io_uring's binary interface and Windows' file functions, named as the
 * vendor names them.
 */
@NullMarked
package io.penstock.engine.ffi;

import org.jspecify.annotations.NullMarked;
