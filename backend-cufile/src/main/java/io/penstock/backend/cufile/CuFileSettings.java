// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Options;

/**
 * What is set in cuFile's driver, for the whole process.
 *
 * @param ownThreads the threads of cuFile's own pool; 0 leaves it to {@code cufile.json}
 * @param statistics the level of its counters; 0 leaves it to {@code cufile.json}
 */
record CuFileSettings(int ownThreads, int statistics) {

    static CuFileSettings of(Options options) {
        return new CuFileSettings(options.get(CufileOptions.OWN_THREADS), options.get(CufileOptions.STATISTICS));
    }

    @Override
    public String toString() {
        return CufileOptions.OWN_THREADS + "=" + ownThreads + ", " + CufileOptions.STATISTICS + "=" + statistics;
    }
}
