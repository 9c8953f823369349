// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.ssg.SsgFile;
import io.penstock.engine.ssg.SsgResults;
import java.io.IOException;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A command of the engine's on its way; one object per id of a queue, filled again and again. */
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
    SsgSlot slot;

    long slotOffset;

    /** Whether it goes in a call of its own: it was one of several in a call that failed. */
    boolean alone;

    int attempts;
    long reach; // of its file: what has to be known of it first
    boolean copying; // the executor's: the copy has been started
    long result;

    /** Makes a step of its copy; answers whether that was the last. Made once, since each transfer's edge is copied. */
    final BooleanSupplier copyStep;

    /** Does what may block, on another thread. */
    final Runnable outside;

    SsgTask(int id, Consumer<SsgTask> giveBack) {
        this.id = id;
        this.copyStep = () -> {
            boolean last = copy();
            if (last) {
                giveBack.accept(this);
            }
            return last;
        };
        this.outside = () -> {
            result = blocking();
            giveBack.accept(this);
        };
    }

    void fill(Command command) {
        kind = command.kind();
        boolean copies = kind == Command.Kind.COPY_IN || kind == Command.Kind.COPY_OUT;
        file = copies ? null : (SsgFile) command.file();
        fileOffset = command.fileOffset();
        bytes = command.bytes();
        memory = kind == Command.Kind.SYNC ? null : command.memory();
        memoryOffset = command.memoryOffset();
        slot = copies ? (SsgSlot) command.slot() : null;
        slotOffset = command.slotOffset();
        alone = false;
        attempts = 0;
        copying = false;
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

    /** Returns the bytes that go: whole blocks. */
    long wholeBlocks() {
        long block = file().blockBytes();
        return (wanted + block - 1) & -block;
    }

    /**
     * Makes the next step of a copy; the executor's. Takes the buffer's turn, copies, looks.
     *
     * @return whether it has ended; then {@code result} says how
     */
    boolean copy() {
        Dx11Memory buffer = (Dx11Memory) memory();
        SsgSlot edge = Objects.requireNonNull(slot);
        if (!copying) {
            if (!buffer.turns().tryCopy()) {
                return false;
            }
            copying = true;
            result = kind == Command.Kind.COPY_IN
                    ? edge.copyTo(buffer.nativeHandle(), memoryOffset, slotOffset, bytes)
                    : edge.copyFrom(buffer.nativeHandle(), memoryOffset, slotOffset, bytes);
        }
        long looked = result < 0 ? result : edge.look();
        if (looked == 0) {
            return false;
        }
        result = looked < 0 ? looked : bytes;
        buffer.turns().endCopy();
        return true;
    }

    /** Syncs the file, or has it known up to {@link #reach}; answers 0 or a negative result. */
    private long blocking() {
        try {
            if (kind == Command.Kind.SYNC) {
                return SsgResults.ofHost(BlockingBytes.INSTANCE.sync(file().host()));
            }
            file().handle().reach(isWrite(), reach);
            return 0;
        } catch (IOException | RuntimeException e) {
            return SsgResults.ofHost(e);
        }
    }

    /** Lets go of what the application may free from here on. */
    void forget() {
        file = null;
        memory = null;
        slot = null;
    }
}
