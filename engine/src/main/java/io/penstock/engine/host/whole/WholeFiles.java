// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.whole;

import io.penstock.engine.spi.Wakeup;

/**
 * What opens, sizes, reads and closes files as a whole, many at a time.
 *
 * <p><b>Threading:</b> one thread, which may block, and which makes all calls, except on {@link #wakeup}.
 *
 * <p><b>Ownership:</b> what is opened is closed by the end of the reading, by {@link #release}, or because there was an
 * error; {@link #close} is called when nothing is in flight.
 */
public interface WholeFiles extends AutoCloseable {

    /** Starts to open a file: until {@link WholeFile#isOpened}. */
    void open(WholeFile file);

    /** Starts to read a file that is open and placed: until it is passed to the consumer. */
    void read(WholeFile file);

    /** Closes a file that is open and is not to be read, so that it can be opened again. */
    void release(WholeFile file);

    /**
     * Submits what was started, and takes what has ended.
     *
     * @param waits whether to wait until something has ended, or until woken
     */
    void turn(boolean waits);

    /** Returns how many files are being opened or read. */
    int inFlight();

    /** Ends a wait, or prevents the next one. */
    Wakeup wakeup();

    @Override
    void close();
}
