// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What the contenders of a row have to do: random blocks of a file.
 *
 * @param direct whether past the page cache
 * @param write whether blocks are written; else read
 */
record Workload(Path file, int blockBytes, int depth, boolean direct, boolean write) {

    /** Returns the number of blocks of the file. */
    long blocks() {
        return TestFile.BYTES / blockBytes;
    }

    /**
     * Returns the offset of a random block. Those that a slot writes no other slot writes, so that a run can be
     * checked: the last write of each slot must be there.
     */
    long offset(int slot) {
        long block = ThreadLocalRandom.current().nextLong(blocks());
        return (write ? block - block % depth + slot : block) * blockBytes;
    }
}
