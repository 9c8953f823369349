// SPDX-License-Identifier: Apache-2.0
/**
 * Open files and buffers, their use counts, and the errors of closed ones. They reach the backend through {@link
 * io.penstock.engine.resource.Owner} only, and do not depend on queues or publishers.
 */
@NullMarked
package io.penstock.engine.resource;

import org.jspecify.annotations.NullMarked;
