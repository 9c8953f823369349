// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ssg;

import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.host.HostFile;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.WrappedFile;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A command of the engine's on its way: what a queue of the extension's keeps of it until it has ended, and what it comes
 * to. One object per id of a queue, filled again and again.
 *
 * <p><b>Threading:</b> one thread's at a time; what hands it from one to the next orders them.
 *
 * @param <F> the files of the routes whose queue it is
 */
public abstract class SsgCommand<F extends WrappedFile<HostFile>> {

    /** How often a file is made ready for one command, while others cut and lengthen it. */
    private static final int MOST_ATTEMPTS = 8;

    private final int id;
    private Command.Kind kind = Command.Kind.SYNC;
    private @Nullable F file;
    private long fileOffset;
    private long bytes;
    private long wanted; // of bytes
    private @Nullable DeviceMemory memory;
    private long memoryOffset;
    private @Nullable DeviceMemory slot;
    private long slotOffset;
    private int attempts;
    private long result;
    private @Nullable Throwable thrown; // until the next command

    /** Makes one, to be filled. */
    protected SsgCommand(int id) {
        this.id = id;
    }

    /** Takes over what the engine wants. */
    public void fill(Command command) {
        kind = command.kind();
        boolean copies = kind == Command.Kind.COPY_IN || kind == Command.Kind.COPY_OUT;
        file = copies ? null : ofRoute(command.file());
        fileOffset = command.fileOffset();
        bytes = command.bytes();
        wanted = bytes;
        memory = kind == Command.Kind.SYNC ? null : command.memory();
        memoryOffset = command.memoryOffset();
        slot = copies ? command.slot() : null;
        slotOffset = command.slotOffset();
        attempts = 0;
        result = 0;
        thrown = null;
    }

    @SuppressWarnings("unchecked") // a queue gets what its own routes have opened
    private F ofRoute(NativeFile opened) {
        return (F) opened;
    }

    /** Lets go of what the application may free from here on. */
    public void forget() {
        file = null;
        memory = null;
        slot = null;
    }

    /** Returns the number by which the engine knows it. */
    public final int id() {
        return id;
    }

    /** Returns what it does. */
    public final Command.Kind kind() {
        return kind;
    }

    /** Returns whether it goes from memory to a file. */
    public final boolean isWrite() {
        return kind == Command.Kind.WRITE;
    }

    /** Returns the file, which a copy has not. */
    public final F file() {
        return Objects.requireNonNull(file);
    }

    /** Returns the offset in the file. */
    public final long fileOffset() {
        return fileOffset;
    }

    /** Returns how many bytes the engine wants moved. */
    public final long bytes() {
        return bytes;
    }

    /** Returns the device side, which a sync has not. */
    public final DeviceMemory memory() {
        return Objects.requireNonNull(memory);
    }

    /** Returns the offset in {@link #memory()}. */
    public final long memoryOffset() {
        return memoryOffset;
    }

    /** Returns the slot, which only a copy has. */
    public final DeviceMemory slot() {
        return Objects.requireNonNull(slot);
    }

    /** Returns the offset in {@link #slot()}. */
    public final long slotOffset() {
        return slotOffset;
    }

    /** Decides how much there is to be moved, of or to a file of {@code size} bytes, and returns that. */
    public final long want(long size) {
        wanted = upTo(size, bytes);
        return wanted;
    }

    /** Returns how much of {@link #bytes()} there is to be moved: up to the end of the file, as far as that was looked at. */
    public final long wanted() {
        return wanted;
    }

    /** Returns where in the file that ends. */
    public final long end() {
        return fileOffset + wanted;
    }

    /** Returns the bytes that the driver is told to move: whole blocks. */
    public final long wholeBlocks() {
        long block = file().limits().fileAlignment();
        return (wanted + block - 1) & -block;
    }

    /** Returns whether a file of {@code size} bytes has to be made longer first: a driver may do so itself, or not. */
    public final boolean lengthens(long size) {
        return isWrite() && size < end();
    }

    /** Computes what was moved, since no driver counts: up to where the file ends, also if it was cut meanwhile. */
    public final long moved() {
        if (kind != Command.Kind.READ) {
            return wanted;
        }
        try {
            return upTo(file().size(), wanted);
        } catch (IOException e) {
            return failed(e);
        }
    }

    private long upTo(long size, long most) {
        return kind == Command.Kind.READ ? Math.max(0, Math.min(most, size - fileOffset)) : most;
    }

    /** Syncs the file, which blocks; returns the result. */
    public final long sync() {
        try {
            return SsgResults.ofHost(BlockingBytes.INSTANCE.sync(file().host()));
        } catch (IOException e) {
            return failed(e);
        }
    }

    /** Returns whether its file was not made ready for it yet. */
    public final boolean isFirstAttempt() {
        return attempts == 0;
    }

    /** Returns whether its file may be made ready once more. */
    public final boolean mayTryAgain() {
        return attempts < MOST_ATTEMPTS;
    }

    /** Returns whether its file has become shorter than a read of it, and the read may be tried again. */
    public final boolean isCut() {
        try {
            return kind == Command.Kind.READ && mayTryAgain() && file().size() < end();
        } catch (IOException e) {
            return false;
        }
    }

    /** Counts an attempt that did not end it. */
    public final void tryAgain() {
        attempts++;
    }

    /** Returns what it has come to so far: a count, or what {@link SsgResults} explains. */
    public final long result() {
        return result;
    }

    /** Keeps why it failed, where that is no number, and returns the result that says so. */
    public final long failed(Throwable cause) {
        thrown = cause;
        return SsgResults.threw(id);
    }

    /** Returns what {@link #failed} was called with for this command; else null. */
    final @Nullable Throwable thrown() {
        return thrown;
    }

    /** Says what it has come to. */
    public final void result(long result) {
        this.result = result;
    }
}
