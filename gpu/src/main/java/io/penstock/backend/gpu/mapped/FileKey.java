// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.mapped;

/**
 * Identifies one content of a file, as far as the system allows (rule 207).
 *
 * @param modifiedNanos time of the last change of content, since 1970
 * @param changedNanos time of the last change of content or metadata, since 1970
 */
public record FileKey(long device, long inode, long size, long modifiedNanos, long changedNanos) {

    /** Identifies the file, whatever its content. */
    record Inode(long device, long inode) {}

    Inode file() {
        return new Inode(device, inode);
    }
}
