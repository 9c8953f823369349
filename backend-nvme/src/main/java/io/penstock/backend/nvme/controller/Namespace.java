// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

/**
 * A namespace: blocks of equal size.
 *
 * @param id from 1 on
 * @param blocks how many blocks it has
 * @param blockBytes the size of a block, a power of two, 512 or more
 */
public record Namespace(int id, long blocks, int blockBytes) {

    /** Returns the size in bytes. */
    public long bytes() {
        return blocks * blockBytes;
    }
}
