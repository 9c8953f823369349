// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.engine.spi.NativeQueue;

/** The three kinds of calls by which cuFile moves bytes. */
enum CuFileMode {
    /** Calls that block, on threads of ours. */
    SYNC,
    /** Many in one call, asked about until they have ended. */
    BATCH,
    /** In the order of a CUDA stream. */
    STREAM;

    /** Opens a queue of this kind, which is a user of the context until it is closed. */
    NativeQueue open(CuFileSession session, CuFileSizes sizes) {
        session.context().join();
        CallQueue calls = new CallQueue(new BlockingCalls(session), sizes.depth(), sizes.threads());
        return switch (this) {
            case SYNC -> calls;
            case BATCH -> new BatchQueue(session, calls);
            case STREAM -> new StreamQueue(session, calls, sizes.streams());
        };
    }
}
