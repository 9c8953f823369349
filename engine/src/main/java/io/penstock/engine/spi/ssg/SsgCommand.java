// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.NativeError;
import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A request in a queue of the extension: what the queue keeps beside it until it has ended, and what it has come to. One
 * object per tag; a device extends it by what it keeps.
 *
 * <p><b>Threading:</b> one thread's at a time; what hands it from one to the next orders them.
 */
public class SsgCommand {

    /** Why a command failed that was cancelled before the device had it. */
    public static final NativeFailure CANCELLED =
            new NativeFailure(new NativeError("cancel", 0, "not submitted"), NativeFailure.Kind.CANCELLED);

    /** How often a file is made ready for one command, while others cut and lengthen it. */
    private static final int MOST_ATTEMPTS = 8;

    private final Request request;
    private long wanted; // of its bytes
    private int attempts;
    private long moved;
    private @Nullable NativeFailure failure;

    /** What the device uses of the file, while it has the command. */
    @Nullable
    SsgFileObject object;

    /** What the device uses of the ring, while it has the command; null where the disk reaches the memory. */
    @Nullable
    DeviceMemory ring;

    /** Whether the device has it. */
    boolean started;

    /** Makes that of a request. */
    public SsgCommand(Request request) {
        this.request = request;
    }

    /** Begins with what the request says now. */
    protected void begin() {
        wanted = request.bytes();
        attempts = 0;
        moved = 0;
        failure = null;
    }

    /** Ends the request with what the command has come to. */
    final void report() {
        forget();
        request.end(moved, failure);
    }

    /** Lets go of what the request referred to: it is about to end. */
    protected void forget() {}

    /** Returns the request. */
    public final Request request() {
        return request;
    }

    /** Returns what it does. */
    public final Request.Kind kind() {
        return request.kind();
    }

    /** Returns whether it goes from memory to a file. */
    public final boolean isWrite() {
        return request.kind() == Request.Kind.WRITE;
    }

    /** Returns the file, which a copy has not. */
    public final SsgFile file() {
        return (SsgFile) request.file();
    }

    /** Returns the file object, while the device has the command. */
    public final SsgFileObject object() {
        return Objects.requireNonNull(object);
    }

    /** Returns the buffer of the ring by whose way it goes; null where the disk reaches the memory. */
    public final @Nullable DeviceMemory ring() {
        return ring;
    }

    /** Returns the offset in the file. */
    public final long fileOffset() {
        return request.fileOffset();
    }

    /** Returns how many bytes the engine wants moved. */
    public final long bytes() {
        return request.bytes();
    }

    /** Returns the device side, which a sync has not. */
    public final DeviceMemory memory() {
        return request.memory();
    }

    /** Returns the offset in {@link #memory()}. */
    public final long memoryOffset() {
        return request.memoryOffset();
    }

    /** Returns the slot, which only a copy has. */
    public final DeviceMemory slot() {
        return request.slot();
    }

    /** Returns the offset in {@link #slot()}. */
    public final long slotOffset() {
        return request.slotOffset();
    }

    /** Decides how much there is to be moved, of or to a file of {@code size} bytes, and returns that. */
    final long want(long size) {
        wanted = upTo(size, request.bytes());
        return wanted;
    }

    /** Returns how much of {@link #bytes()} there is to be moved: up to the end of the file, as far as that was looked at. */
    public final long wanted() {
        return wanted;
    }

    /** Returns where in the file that ends. */
    final long end() {
        return request.fileOffset() + wanted;
    }

    /** Returns the bytes that the driver is told to move: whole blocks. */
    public final long wholeBlocks() {
        long block = file().limits().fileAlignment();
        return (wanted + block - 1) & -block;
    }

    /** Returns whether a file of {@code size} bytes has to be made longer first: a driver may do so itself, or not. */
    final boolean lengthens(long size) {
        return isWrite() && size < end();
    }

    /**
     * Ends it with success: the driver has moved all blocks. Counts the bytes, since no driver does: up to the end of the file,
     * also if it was cut meanwhile.
     */
    final void ends() {
        try {
            ends(kind() == Request.Kind.READ ? upTo(file().size(), wanted) : wanted);
        } catch (IOException e) {
            fails(e);
        }
    }

    private long upTo(long size, long most) {
        return kind() == Request.Kind.READ ? Math.max(0, Math.min(most, size - request.fileOffset())) : most;
    }

    /** Syncs the file, which blocks. */
    final void sync() throws IOException {
        long answer = BlockingBytes.INSTANCE.sync(file().host());
        if (answer < 0) {
            fails(BlockingBytes.INSTANCE.failure(kind(), answer));
        }
    }

    /** Returns whether its file was not made ready for it yet. */
    final boolean isFirstAttempt() {
        return attempts == 0;
    }

    /** Returns whether its file may be made ready once more. */
    final boolean mayTryAgain() {
        return attempts < MOST_ATTEMPTS;
    }

    /** Returns whether its file has become shorter than a read of it, and the read may be tried again. */
    final boolean isCut() {
        try {
            return kind() == Request.Kind.READ && mayTryAgain() && file().size() < end();
        } catch (IOException e) {
            return false;
        }
    }

    /** Counts an attempt that did not end it. */
    final void tryAgain() {
        attempts++;
        failure = null;
    }

    /** Returns how many bytes it has moved, if it has not failed. */
    public final long moved() {
        return moved;
    }

    /** Returns why it has failed; null if it has not. */
    public final @Nullable NativeFailure failure() {
        return failure;
    }

    /** Returns whether it has failed. */
    public final boolean hasFailed() {
        return failure != null;
    }

    /** Ends it, with success if {@code cause} is null. */
    public final void ends(long bytes, @Nullable NativeFailure cause) {
        moved = bytes;
        failure = cause;
    }

    /** Ends it with success. */
    final void ends(long bytes) {
        ends(bytes, null);
    }

    /** Ends it with its cause. */
    public final void fails(NativeFailure cause) {
        ends(0, cause);
    }

    /** Ends it with what was thrown for it: the driver's answer, or that of host I/O. */
    final void fails(Throwable cause) {
        NativeError answer = cause instanceof SsgRefusal refusal ? refusal.nativeError() : null;
        fails(
                answer != null
                        ? new NativeFailure(answer, NativeFailure.Kind.PERMANENT)
                        : BlockingBytes.INSTANCE.failure(kind(), cause));
    }
}
