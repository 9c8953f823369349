// SPDX-License-Identifier: Apache-2.0
/**
 * The readers, one for each format: they parse metadata and name where the bytes of each array lie. They never read the
 * data.
 */
@NullMarked
package io.penstock.formats.read;

import org.jspecify.annotations.NullMarked;
