// SPDX-License-Identifier: Apache-2.0
/**
 * Parts of files that are mapped and registered with the driver: which, since when, and for how long. Knows no copy and no
 * queue, only that something waits for a segment.
 */
@NullMarked
package io.penstock.backend.cufile.mapped.pages;

import org.jspecify.annotations.NullMarked;
