// SPDX-License-Identifier: Apache-2.0
/**
 * The path by AMD's SSG extension for OpenGL: the device and commands of {@code engine.kit.ssg}, files, and the
 * unpublished constants.
 */
@NullMarked
package io.penstock.backend.gl.ssg;

import org.jspecify.annotations.NullMarked;
