// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

/**
 * Settings of a {@link UringQueue}.
 *
 * @param depth maximum number of requests queued or in flight
 * @param asyncBytes cached reads and writes of at least this many bytes run on kernel workers, instead of being copied
 *     on the I/O queue's thread
 * @param registers whether files and memory that are used often are registered with the ring
 */
public record UringOptions(int depth, long asyncBytes, boolean registers) {}
