// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A command of the engine's on its way: filled by the lane, then the context's thread's until it has come back. One object
 * per id of a queue, filled again and again.
 */
final class SsgTask {

    final int id;

    Command.Kind kind = Command.Kind.SYNC;

    @Nullable
    SsgFile file;

    long fileOffset;
    long bytes;
    long wanted; // of bytes: up to the end of the file

    @Nullable
    DeviceMemory memory;

    long memoryOffset;

    @Nullable
    DeviceMemory slot;

    long slotOffset;

    // While it is in the device's hands.
    @Nullable
    SsgObject object;

    @Nullable
    GlMemory ring;

    long ticket; // of the copy under way
    int attempts;
    long result;

    SsgTask(int id) {
        this.id = id;
    }

    void fill(Command command) {
        kind = command.kind();
        boolean copies = kind == Command.Kind.COPY_IN || kind == Command.Kind.COPY_OUT;
        file = copies ? null : (SsgFile) command.file();
        fileOffset = command.fileOffset();
        bytes = command.bytes();
        memory = kind == Command.Kind.SYNC ? null : command.memory();
        memoryOffset = command.memoryOffset();
        slot = copies ? command.slot() : null;
        slotOffset = command.slotOffset();
        attempts = 0;
        result = 0;
    }

    SsgFile file() {
        return Objects.requireNonNull(file);
    }

    DeviceMemory memory() {
        return Objects.requireNonNull(memory);
    }

    boolean isWrite() {
        return kind == Command.Kind.WRITE;
    }

    /** Returns whether the driver cannot reach its memory beside other work, or at all. */
    boolean needsRing() {
        return !(memory instanceof GlMemory buffer) || !buffer.isVisible();
    }

    /** Returns the buffer that the driver is told of. */
    GlMemory buffer() {
        return ring != null ? ring : (GlMemory) memory();
    }

    /** Returns where in that buffer. */
    long bufferOffset() {
        return ring != null ? 0 : memoryOffset;
    }

    /** Lets go of what the application may free from here on. */
    void forget() {
        file = null;
        memory = null;
        slot = null;
    }
}
