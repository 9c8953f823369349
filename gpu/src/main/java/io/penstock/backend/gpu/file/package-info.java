// SPDX-License-Identifier: Apache-2.0
/**
 * What a file API holds: its driver, files registered with it and the storage they lie on, registered memory, and the
 * session of a backend that applies the rules for registering. Does not depend on queues.
 */
@NullMarked
package io.penstock.backend.gpu.file;

import org.jspecify.annotations.NullMarked;
