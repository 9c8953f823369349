// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.engine.spi.NativeFailure;
import org.jspecify.annotations.Nullable;

/** A place behind a copy in the device's order, which {@link CopyEnds} marks and looks at; one copy at a time. */
final class CopyMark {

    private final long dataCell;

    /** The query, or the fence's value, that is passed when the copy has ended. */
    long passed;

    /** How often it has been looked at. */
    int looks;

    /** Why it will not be passed; null as far as is known. */
    @Nullable
    NativeFailure failure;

    /**
     * Makes one.
     *
     * @param dataCell the address of 4 bytes that a query's answer goes to
     */
    CopyMark(long dataCell) {
        this.dataCell = dataCell;
    }

    long dataCell() {
        return dataCell;
    }
}
