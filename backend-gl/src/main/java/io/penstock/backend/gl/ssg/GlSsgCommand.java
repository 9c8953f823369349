// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ssg;

import io.penstock.backend.gl.memory.GlMemory;
import io.penstock.engine.kit.ssg.SsgCommand;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import org.jspecify.annotations.Nullable;

/** A command, owned by the context's thread until it is returned; with the copy that it is, or is part of. */
final class GlSsgCommand extends SsgCommand implements Request.Completion {

    /** The copy in flight, such as one between ring and buffer. */
    final Request step;

    /** True once the copy has completed. */
    boolean hasCopied;

    GlSsgCommand(Request request) {
        super(request);
        this.step = new Request(request.tag(), this);
    }

    /** Called when the step completes. */
    @Override
    public void ended(Request copy, long bytes, @Nullable NativeFailure cause) {
        hasCopied = true;
        ends(bytes, cause);
    }

    @Override
    protected void clear() {
        step.clear();
    }

    /** Makes the step a copy between buffer and ring. */
    void stepByRing(DeviceMemory ring) {
        if (isWrite()) {
            step.copy(Request.Kind.COPY_IN, request.memory(), request.memoryOffset(), request.bytes())
                    .memory(ring, 0);
        } else {
            step.copy(Request.Kind.COPY_OUT, request.memory(), request.memoryOffset(), requestedBytes())
                    .memory(ring, 0);
        }
    }

    /** Returns the buffer to pass to the driver. */
    GlMemory buffer() {
        DeviceMemory ring = ring();
        return (GlMemory) (ring != null ? ring : request.memory());
    }

    long bufferOffset() {
        return ring() != null ? 0 : request.memoryOffset();
    }
}
