// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.engine.spi.Request;
import org.jspecify.annotations.Nullable;

/** What is kept beside a copy while it is under way; one object per tag, the thread's of the context. */
final class GlCopy {

    /** Which one it is in the context's order. */
    long number;

    /** The way round for a slot that GL does not know; null for others. */
    @Nullable
    GlSlot bounce;

    /** Returns that of a request. */
    static GlCopy of(Request request) {
        return request.attachment(GlCopy.class, first -> new GlCopy());
    }
}
