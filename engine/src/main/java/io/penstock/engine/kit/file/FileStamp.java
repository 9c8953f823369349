// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.file;

/**
 * Detects changes of a file: two equal stamps of one handle mean that no change was noticed, see rule 207.
 *
 * @param modifiedNanos time of the last change of content, since 1970
 * @param changedNanos time of the last change of content or metadata, since 1970; 0 if the system has none
 */
public record FileStamp(long size, long modifiedNanos, long changedNanos) {}
