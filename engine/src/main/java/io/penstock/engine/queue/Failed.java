// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.FailedCompletion;

/** A failed transfer as a value. */
final class Failed extends Finished implements FailedCompletion {

    private final Throwable error;

    Failed(CarriedTransfer open, Throwable error) {
        super(open);
        this.error = error;
    }

    @Override
    public Throwable error() {
        return error;
    }

    @Override
    public String toString() {
        return transfer() + ": " + error;
    }
}
