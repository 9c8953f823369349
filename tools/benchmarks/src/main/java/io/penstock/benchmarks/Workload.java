// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The work of a row's contenders: random blocks of a file.
 *
 * @param direct true for direct I/O
 * @param write true to write blocks; otherwise they are read
 */
record Workload(Path file, int blockBytes, int depth, boolean direct, boolean write) {

    /** Returns the number of blocks of the file. */
    long blocks() {
        return TestFile.BYTES / blockBytes;
    }

    /**
     * Returns the offset of a random block. No two chains write the same block, so that a run can be checked: the last
     * write of each chain must be there.
     */
    long offset(int chain) {
        long block = ThreadLocalRandom.current().nextLong(blocks());
        return (write ? block - block % depth + chain : block) * blockBytes;
    }
}
