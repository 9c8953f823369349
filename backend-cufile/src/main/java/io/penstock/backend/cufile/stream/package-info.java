// SPDX-License-Identifier: Apache-2.0
/**
 * cuFile's calls in the order of CUDA streams. All other requests go to blocking calls.
 */
@NullMarked
package io.penstock.backend.cufile.stream;

import org.jspecify.annotations.NullMarked;
