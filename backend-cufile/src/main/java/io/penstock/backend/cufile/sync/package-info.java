// SPDX-License-Identifier: Apache-2.0
/**
 * cuFile's blocking calls, on threads, and what the queues of all its calls share: the state of a request, polling.
 */
@NullMarked
package io.penstock.backend.cufile.sync;

import org.jspecify.annotations.NullMarked;
