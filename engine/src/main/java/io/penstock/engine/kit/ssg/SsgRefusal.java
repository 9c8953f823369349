// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.NativeError;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A refusal by AMD's driver: a reason to take another path, or the cause of a failed transfer. */
public final class SsgRefusal extends IOException {

    private static final long serialVersionUID = 1L;

    private final @Nullable NativeError nativeError;

    /** Creates a refusal without a driver error. */
    public SsgRefusal(String reason) {
        super(reason);
        this.nativeError = null;
    }

    /** Creates a refusal of a request with the driver's error. */
    public SsgRefusal(String request, NativeError error) {
        super(request + " refused: " + error);
        this.nativeError = error;
    }

    private SsgRefusal(SsgRefusal refused, String note) {
        super(refused.getMessage() + "; " + note, refused);
        this.nativeError = refused.nativeError;
    }

    /** Returns this refusal with its likely cause. */
    SsgRefusal with(String note) {
        return new SsgRefusal(this, note);
    }

    /** Returns the driver's error; null if the driver was not called. */
    @Nullable
    NativeError nativeError() {
        return nativeError;
    }
}
