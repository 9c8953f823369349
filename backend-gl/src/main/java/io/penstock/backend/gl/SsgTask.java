// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ssg.SsgCommand;
import org.jspecify.annotations.Nullable;

/** A request on its way: begun by the lane, then the context's thread's until it has come back; one object per tag. */
final class SsgTask extends SsgCommand<SsgFile> implements Request.Completion {

    // While it is in the device's hands.
    @Nullable
    SsgObject object;

    @Nullable
    GlMemory ring;

    /** The copy under way, such as one between ring and buffer. */
    final Request step;

    /** Whether that has ended. */
    boolean hasCopied;

    SsgTask(Request request) {
        super(request);
        this.step = new Request(request.tag(), this);
    }

    /** Takes the end of the step. */
    @Override
    public void ended(Request copy, long bytes, @Nullable NativeFailure cause) {
        hasCopied = true;
        ends(bytes, cause);
    }

    @Override
    protected void forget() {
        step.clear();
    }

    /** Returns whether the driver cannot reach its memory beside other work, or at all. */
    boolean needsRing() {
        return !(memory() instanceof GlMemory buffer) || !buffer.isVisible();
    }

    /** Returns the buffer that the driver is told of. */
    GlMemory buffer() {
        return ring != null ? ring : (GlMemory) memory();
    }

    /** Returns where in that buffer. */
    long bufferOffset() {
        return ring != null ? 0 : memoryOffset();
    }
}
