// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import java.io.IOException;

/** A {@link NativeFailure} where an exception is needed. */
public final class NativeException extends IOException {

    private static final long serialVersionUID = 1L;

    private final transient NativeFailure failure;

    /**
     * Creates an exception.
     *
     * @param what the operation and its object, for the message
     */
    public NativeException(String what, NativeFailure failure) {
        super(what + " failed: " + failure);
        this.failure = failure;
    }

    /** Returns the failure. */
    public NativeFailure failure() {
        return failure;
    }
}
