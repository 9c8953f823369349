// SPDX-License-Identifier: Apache-2.0
/**
 * Files that are read as a whole, many at a time, without an object for each: by io_uring, or by blocking calls. Not
 * the transfers of the engine: see {@code docs/decisions/0051}.
 */
@NullMarked
package io.penstock.engine.host.whole;

import org.jspecify.annotations.NullMarked;
