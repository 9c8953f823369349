// SPDX-License-Identifier: Apache-2.0
/** What {@link io.penstock.Backends} looks for on the class path and the module path: one provider a backend. */
@NullMarked
package io.penstock.spi;

import org.jspecify.annotations.NullMarked;
