// SPDX-License-Identifier: Apache-2.0
/** Files without a name, which the JDK cannot create. */
@NullMarked
package io.penstock.cli.ffi;

import org.jspecify.annotations.NullMarked;
