// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.bench;

import java.util.Locale;

/** In which order a job accesses the blocks of its file, by fio's names. */
public enum AccessPattern {
    /** Reads the blocks in the order of the file, again from the start at its end. */
    READ,
    /** Writes the blocks in the order of the file, again from the start at its end. */
    WRITE,
    /** Reads blocks at random. */
    RANDREAD,
    /** Writes blocks at random. */
    RANDWRITE;

    /** Returns whether blocks are written. */
    public boolean writes() {
        return this == WRITE || this == RANDWRITE;
    }

    /** Returns fio's name of it. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    boolean isRandom() {
        return this == RANDREAD || this == RANDWRITE;
    }
}
