// SPDX-License-Identifier: Apache-2.0
/**
 * Memory of the GPU that is registered with cuFile, the rules for when it is, and the session of a backend that applies them.
 */
@NullMarked
package io.penstock.backend.cufile.register;

import org.jspecify.annotations.NullMarked;
