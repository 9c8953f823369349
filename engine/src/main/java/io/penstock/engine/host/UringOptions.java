// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

/**
 * How a {@link UringQueue} works.
 *
 * @param depth requests that may be queued or in flight at once
 * @param asyncBytes cached reads and writes of at least so many bytes are left to kernel workers instead of being
 *     copied by the lane
 * @param registers whether files and memory that are used often are registered with the ring
 */
record UringOptions(int depth, long asyncBytes, boolean registers) {}
