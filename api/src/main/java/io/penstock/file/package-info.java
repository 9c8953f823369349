// SPDX-License-Identifier: Apache-2.0
/**
 * Blocking calls of the JDK's file system, and files that appear as a whole, for the modules of this project that write
 * files themselves. Not promised: exported to those modules only.
 */
@NullMarked
package io.penstock.file;

import org.jspecify.annotations.NullMarked;
