// SPDX-License-Identifier: Apache-2.0
/**
 * libcufile's driver, one per process: opening and closing, settings, properties, and error codes. Does not depend on
 * files, memory or transfers.
 */
@NullMarked
package io.penstock.backend.cufile.driver;

import org.jspecify.annotations.NullMarked;
