// SPDX-License-Identifier: Apache-2.0
/**
 * Open files and buffers, who uses them, and the errors of those that are closed. They reach the backend by {@link
 * io.penstock.engine.resource.Owner} only; knows no queue and no publisher.
 */
@NullMarked
package io.penstock.engine.resource;

import org.jspecify.annotations.NullMarked;
