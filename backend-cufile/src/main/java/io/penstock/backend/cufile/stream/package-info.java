// SPDX-License-Identifier: Apache-2.0
/**
 * cuFile's calls in the order of CUDA streams. Knows no other kind of calls but those that block, to which it passes the rest.
 */
@NullMarked
package io.penstock.backend.cufile.stream;

import org.jspecify.annotations.NullMarked;
