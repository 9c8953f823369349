// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.file;

import io.penstock.backend.cufile.ffi.CuFile;

/** The driver that a process keeps, in tests that make the fakes as new. */
public final class KeptDriver {

    private KeptDriver() {}

    /** Lets the next user open the driver, of which no user may be left. */
    public static void forget() {
        FileDriver.forget(CuFile.API);
    }

    /** Does what the exit of the JVM does. */
    public static void exit() {
        FileDriver.closeAtExit(CuFile.API);
    }
}
