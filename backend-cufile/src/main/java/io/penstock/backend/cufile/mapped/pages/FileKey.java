// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.mapped.pages;

/**
 * What tells one content of a file from another, as far as the system tells (rule 207).
 *
 * @param modifiedNanos time of the last change of content, since 1970
 * @param changedNanos time of the last change of content or metadata, since 1970
 */
public record FileKey(long device, long inode, long size, long modifiedNanos, long changedNanos) {

    /** Which file, whatever is in it. */
    record Inode(long device, long inode) {}

    Inode file() {
        return new Inode(device, inode);
    }
}
