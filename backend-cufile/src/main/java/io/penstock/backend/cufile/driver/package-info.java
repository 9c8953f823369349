// SPDX-License-Identifier: Apache-2.0
/**
 * libcufile's driver, of which a process has one: opening and closing, settings, properties, and what its answers mean. Knows no
 * file, no memory and no transfer.
 */
@NullMarked
package io.penstock.backend.cufile.driver;

import org.jspecify.annotations.NullMarked;
