// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ssg.SsgCommand;
import org.jspecify.annotations.Nullable;

/** A command, which the thread of the context has until it is returned; with the copy that it is, or is part of. */
final class GlSsgCommand extends SsgCommand implements Request.Completion {

    /** The copy under way, such as one between ring and buffer. */
    final Request step;

    /** Whether that has ended. */
    boolean hasCopied;

    GlSsgCommand(Request request) {
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

    /** Makes the step a copy between buffer and ring. */
    void stepByRing(DeviceMemory ring) {
        if (isWrite()) {
            step.copy(Request.Kind.COPY_IN, memory(), memoryOffset(), bytes()).memory(ring, 0);
        } else {
            step.copy(Request.Kind.COPY_OUT, memory(), memoryOffset(), wanted()).memory(ring, 0);
        }
    }

    /** Returns the buffer that the driver is told of. */
    GlMemory buffer() {
        DeviceMemory ring = ring();
        return (GlMemory) (ring != null ? ring : memory());
    }

    /** Returns where in that buffer. */
    long bufferOffset() {
        return ring() != null ? 0 : memoryOffset();
    }
}
