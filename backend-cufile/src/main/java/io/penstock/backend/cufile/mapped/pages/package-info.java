// SPDX-License-Identifier: Apache-2.0
/**
 * Ranges of files that are mapped and registered with the driver, and their lifetime. Does not depend on copies or
 * queues; a waiter is notified when its segment is registered.
 */
@NullMarked
package io.penstock.backend.cufile.mapped.pages;

import org.jspecify.annotations.NullMarked;
