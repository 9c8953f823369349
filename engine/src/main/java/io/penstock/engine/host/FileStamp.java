// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

/**
 * What changes when a file does; two equal stamps of one handle mean that nothing was noticed, see rule 207.
 *
 * @param modifiedNanos time of the last change of content, since 1970
 * @param changedNanos time of the last change of content or metadata, since 1970; 0 where the system has none
 */
public record FileStamp(long size, long modifiedNanos, long changedNanos) {}
