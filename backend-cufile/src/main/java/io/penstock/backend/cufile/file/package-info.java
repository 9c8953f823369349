// SPDX-License-Identifier: Apache-2.0
/**
 * Files registered with cuFile, and the storage they lie on. Does not depend on queues.
 */
@NullMarked
package io.penstock.backend.cufile.file;

import org.jspecify.annotations.NullMarked;
