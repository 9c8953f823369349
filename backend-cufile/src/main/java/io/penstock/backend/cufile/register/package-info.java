// SPDX-License-Identifier: Apache-2.0
/**
 * GPU memory registered with cuFile, the rules for when it is registered, and the session of a backend that applies
 * them.
 */
@NullMarked
package io.penstock.backend.cufile.register;

import org.jspecify.annotations.NullMarked;
