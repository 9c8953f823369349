// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

/** Shows tests of other packages how many leases have not ended. */
public final class LiveLeases {

    private LiveLeases() {}

    public static long count() {
        return Leases.live();
    }
}
