// SPDX-License-Identifier: Apache-2.0
/**
 * Files that are registered with cuFile, and what they lie on. Knows no queue: how a file is read is another package's.
 */
@NullMarked
package io.penstock.backend.cufile.file;

import org.jspecify.annotations.NullMarked;
