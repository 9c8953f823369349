// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The work of a row's contenders: random blocks of a file, or of several, which hold what one file would. An offset is
 * the place in all of them.
 *
 * @param fileBytes the bytes of each file
 * @param direct true for direct I/O
 * @param write true to write blocks; otherwise they are read
 */
record Workload(List<Path> files, long fileBytes, int blockBytes, int depth, boolean direct, boolean write) {

    Workload(Path file, int blockBytes, int depth, boolean direct, boolean write) {
        this(List.of(file), TestFile.BYTES, blockBytes, depth, direct, write);
    }

    /** Returns the only file. */
    Path file() {
        return files.get(0);
    }

    /** Returns the number of blocks of all files. */
    long blocks() {
        return files.size() * fileBytes / blockBytes;
    }

    /**
     * Returns the offset of a random block. No two chains write the same block, so that a run can be checked: the last
     * write of each chain must be there.
     */
    long offset(int chain) {
        long block = ThreadLocalRandom.current().nextLong(blocks());
        return (write ? block - block % depth + chain : block) * blockBytes;
    }

    /** Returns the index of the file that holds an offset. */
    int number(long offset) {
        return files.size() == 1 ? 0 : (int) (offset / fileBytes);
    }

    /** Returns the place of an offset in its file. */
    long at(long offset) {
        return files.size() == 1 ? offset : offset % fileBytes;
    }
}
