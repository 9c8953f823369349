// SPDX-License-Identifier: Apache-2.0
/**
 * What {@link io.penstock.Backends} loads from the class path and the module path: one provider per backend, and
 * options.
 */
@NullMarked
package io.penstock.spi;

import org.jspecify.annotations.NullMarked;
