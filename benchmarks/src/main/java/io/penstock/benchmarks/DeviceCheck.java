// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;

/** Checks on the device itself that its memory holds the contents of the test file. */
interface DeviceCheck extends AutoCloseable {

    /** Fills memory with a word that the test file does not contain, before reads into it. */
    void poison(long memory, long bytes);

    /**
     * Checks that memory holds the contents of the test file from an offset on.
     *
     * @throws IOException with the number of wrong words
     */
    void verify(String whose, long memory, long at, long bytes, long fileOffset) throws IOException;

    @Override
    void close();
}
