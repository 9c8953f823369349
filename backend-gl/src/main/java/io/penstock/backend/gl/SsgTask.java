// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.engine.ssg.SsgCommand;
import org.jspecify.annotations.Nullable;

/**
 * A command of the engine's on its way: filled by the lane, then the context's thread's until it has come back. One object
 * per id of a queue, filled again and again.
 */
final class SsgTask extends SsgCommand<SsgFile> {

    // While it is in the device's hands.
    @Nullable
    SsgObject object;

    @Nullable
    GlMemory ring;

    long ticket; // of the copy under way
    long copied; // what that has come to

    SsgTask(int id) {
        super(id);
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
