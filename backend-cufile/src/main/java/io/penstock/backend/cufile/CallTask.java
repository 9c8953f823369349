// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import org.jspecify.annotations.Nullable;

/**
 * One command of a queue of ours, filled again and again: what is left of a {@link Command} when the lane has its
 * flyweight back.
 *
 * <p><b>Threading:</b> the lane's, except while a {@link CallQueue} has lent it to one of its threads; the queues in
 * between order the accesses.
 */
final class CallTask {

    final int id;
    long result;

    @Nullable
    Throwable thrown; // by the call, until the next command

    Command.Kind kind = Command.Kind.SYNC;
    long fileOffset;
    long memoryOffset;
    long slotOffset;
    long bytes;
    private long done; // of a transfer by cuFile that came short in the middle of a block

    @Nullable
    CudaPoint point;

    @Nullable
    Runnable inOrder;

    private @Nullable NativeFile file;
    private @Nullable DeviceMemory memory;
    private @Nullable DeviceMemory slot;

    CallTask(int id) {
        this.id = id;
    }

    void fill(Command command) {
        kind = command.kind();
        boolean copies = isCopy();
        file = copies ? null : command.file();
        memory = kind == Command.Kind.SYNC ? null : command.memory();
        slot = copies ? command.slot() : null;
        fileOffset = command.fileOffset();
        memoryOffset = command.memoryOffset();
        slotOffset = command.slotOffset();
        boolean reads = kind == Command.Kind.READ && isOfCuFile(command);
        bytes = reads ? file().askedBytes(fileOffset, command.bytes()) : command.bytes();
        point = (CudaPoint) command.point();
        inOrder = command.inOrder();
        result = 0;
        thrown = null;
        done = 0;
    }

    /** Lets go of file and memory. */
    void forget() {
        file = null;
        memory = null;
        slot = null;
        point = null;
        inOrder = null;
    }

    boolean isCopy() {
        return kind == Command.Kind.COPY_IN || kind == Command.Kind.COPY_OUT;
    }

    /** Returns whether a command is one for cuFile: between a file and memory of a GPU. */
    static boolean isOfCuFile(Command command) {
        return (command.kind() == Command.Kind.READ || command.kind() == Command.Kind.WRITE)
                && command.memory() instanceof GpuMemory;
    }

    CuFileFile file() {
        return (CuFileFile) present(file);
    }

    GpuMemory gpuMemory() {
        return (GpuMemory) present(memory);
    }

    DeviceMemory memory() {
        return present(memory);
    }

    DeviceMemory slot() {
        return present(slot);
    }

    /** Returns what cuFile is to be given as the buffer: of registered memory the pointer that was registered. */
    long base() {
        GpuMemory gpu = gpuMemory();
        return gpu.span().registration().isActive() ? gpu.span().address() : gpu.nativeHandle() + memoryOffset + done;
    }

    /** Returns the offset of the bytes in a buffer that starts at {@code base}. */
    long offsetFrom(long base) {
        return gpuMemory().nativeHandle() + memoryOffset + done - base;
    }

    /** Returns the bytes that are still to be moved. */
    long rest() {
        return bytes - done;
    }

    /** Returns where in the file they are. */
    long restOffset() {
        return fileOffset + done;
    }

    /**
     * Takes in what cuFile has moved, and returns whether the rest is to be asked for right away. cuFile may come short
     * anywhere; of a file of whole blocks the lane takes part of a block for the end, so it must not see one before.
     */
    boolean goesOn(long moved) {
        boolean inBlock = moved > 0 && (done + moved) % file().limits().fileAlignment() != 0;
        if (kind != Command.Kind.READ || !inBlock || moved >= rest()) {
            return false;
        }
        done += moved;
        return true;
    }

    /** Returns the result of it all, of which {@code last} is the answer to the last part. */
    long total(long last) {
        return last < 0 ? last : done + last;
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("this command has no such part");
        }
        return value;
    }
}
