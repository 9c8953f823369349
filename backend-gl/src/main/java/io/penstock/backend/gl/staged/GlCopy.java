// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.staged;

import io.penstock.backend.gl.memory.GlStagingBuffer;
import io.penstock.engine.spi.Request;
import org.jspecify.annotations.Nullable;

/** The state of a copy in flight; one object per tag, used by the context's thread. */
final class GlCopy {

    /** Its number in the context's order. */
    long number;

    /** The bounce buffer for a staging buffer that GL does not know; null for others. */
    @Nullable
    GlStagingBuffer bounce;

    /** Returns the state of a request's copy. */
    static GlCopy of(Request request) {
        return request.attachment(GlCopy.class, first -> new GlCopy());
    }
}
