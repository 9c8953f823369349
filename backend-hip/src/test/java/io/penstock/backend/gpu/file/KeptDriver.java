// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.file;

import io.penstock.backend.hip.ffi.Hip;
import io.penstock.backend.hip.ffi.HipFile;
import io.penstock.backend.hip.ffi.HipOverCuda;

/** The driver that a process keeps, in tests that make the double as new. */
public final class KeptDriver {

    private KeptDriver() {}

    /** Lets the next user open the driver, of which no user may be left. */
    public static void forget() {
        FileDriver.forget(HipFile.over(Hip.DRIVER));
        FileDriver.forget(HipFile.over(HipOverCuda.CUDA));
    }
}
