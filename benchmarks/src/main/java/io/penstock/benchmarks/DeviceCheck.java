// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;

/** Has the device itself say whether its memory holds what the test file has. */
interface DeviceCheck extends AutoCloseable {

    /** Fills memory with what the test file has nowhere: where reads shall go holds that before. */
    void poison(long memory, long bytes);

    /**
     * Goes on if memory holds what the test file has from an offset on.
     *
     * @throws IOException with the number of wrong words
     */
    void verify(String whose, long memory, long at, long bytes, long fileOffset) throws IOException;

    @Override
    void close();
}
