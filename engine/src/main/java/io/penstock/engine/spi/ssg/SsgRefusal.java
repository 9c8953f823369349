// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.NativeError;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** AMD's driver does not want something: a reason to go another way, or what a transfer fails with. */
public final class SsgRefusal extends IOException {

    private static final long serialVersionUID = 1L;

    private final @Nullable NativeError nativeError;

    /** Refuses without an answer of the driver's. */
    public SsgRefusal(String reason) {
        super(reason);
        this.nativeError = null;
    }

    /** Refuses a request with the driver's answer. */
    public SsgRefusal(String request, NativeError error) {
        super(request + " refused: " + error);
        this.nativeError = error;
    }

    /** Returns the driver's answer; null where it was not asked. */
    @Nullable
    NativeError nativeError() {
        return nativeError;
    }
}
