// SPDX-License-Identifier: Apache-2.0
/**
 * The path by AMD's SSG extension: its queue, ring, files and routes, and the two types that a device implements,
 * {@link io.penstock.engine.spi.ssg.SsgDevice} and {@link io.penstock.engine.spi.ssg.SsgCommands}. No vendor's call and no
 * option of a vendor lives here.
 */
@NullMarked
package io.penstock.engine.spi.ssg;

import org.jspecify.annotations.NullMarked;
