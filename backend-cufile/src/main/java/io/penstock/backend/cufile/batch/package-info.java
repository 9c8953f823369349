// SPDX-License-Identifier: Apache-2.0
/**
 * cuFile's batches, and the bounce buffers that all batches of the process share. What batches refuse goes to blocking
 * calls.
 */
@NullMarked
package io.penstock.backend.cufile.batch;

import org.jspecify.annotations.NullMarked;
