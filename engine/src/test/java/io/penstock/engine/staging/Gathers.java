// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.Transfer;
import io.penstock.engine.plan.NamedBuffer;
import io.penstock.engine.plan.NamedFile;

/** Makes gathers without an engine. */
final class Gathers {

    private Gathers() {}

    static Transfer of(int length, long... offsets) {
        NamedBuffer buffer = new NamedBuffer("buffer", 1, (long) offsets.length * length);
        return Transfer.gather(new NamedFile("file", 1), offsets, length, buffer.all());
    }
}
