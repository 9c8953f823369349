// SPDX-License-Identifier: Apache-2.0
/**
 * Fakes in C of the vendor's two libraries, compiled when they are first needed, and the orders that a test can give
 * them. They are loaded through the same path as the real ones.
 */
@NullMarked
package io.penstock.backend.cufile.fakes;

import org.jspecify.annotations.NullMarked;
