// SPDX-License-Identifier: Apache-2.0
/**
 * The path through AMD's SSG extension: its queue, ring, files and paths, and the two types that a device implements,
 * {@link io.penstock.engine.kit.ssg.SsgDevice} and {@link io.penstock.engine.kit.ssg.SsgCommands}. Contains no vendor
 * call and no vendor option.
 */
@NullMarked
package io.penstock.engine.kit.ssg;

import org.jspecify.annotations.NullMarked;
