// SPDX-License-Identifier: Apache-2.0
/**
 * The path by AMD's SSG extension: its file objects, its commands and the memory that it reaches. Files, ring and
 * retries are the engine's.
 */
@NullMarked
package io.penstock.backend.opencl.ssg;

import org.jspecify.annotations.NullMarked;
