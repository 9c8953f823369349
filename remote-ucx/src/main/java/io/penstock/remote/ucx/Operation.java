// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import java.util.function.IntConsumer;

/** A request of UCX that has not ended. Belongs to the thread of its connection, which frees it. */
final class Operation {

    final long request;
    final long header; // to be freed with it; 0 if there is none
    final IntConsumer ended;
    long endBy = Long.MAX_VALUE; // if it has not ended by then, the connection is ended

    Operation(long request, long header, IntConsumer ended) {
        this.request = request;
        this.header = header;
        this.ended = ended;
    }
}
