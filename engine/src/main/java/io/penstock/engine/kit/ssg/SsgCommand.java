// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.NativeError;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The state of a request in a queue of the extension, and its result. One object per tag; a device subclasses it to add
 * its own state.
 *
 * <p><b>Threading:</b> one thread at a time; the handover from one to the next orders their accesses.
 */
public class SsgCommand {

    /** The failure of a command that was cancelled before it was submitted to the device. */
    public static final NativeFailure CANCELLED =
            new NativeFailure(new NativeError("cancel", 0, "not submitted"), NativeFailure.Kind.CANCELLED);

    /** How often a file is prepared for one command, while others truncate and extend it. */
    private static final int MOST_ATTEMPTS = 8;

    /** What the engine asks for. */
    public final Request request;

    private long requested; // of its bytes
    private int attempts;
    private long moved;
    private @Nullable NativeFailure failure;

    /** The file object, while the device holds the command. */
    @Nullable
    SsgFileObject object;

    /** The ring buffer, while the device holds the command; null if the disk reaches the memory. */
    @Nullable
    DeviceMemory ring;

    /** Whether the device holds the command. */
    boolean started;

    /** Creates the command of a request. */
    public SsgCommand(Request request) {
        this.request = request;
    }

    /** Initializes this from the request. */
    protected void begin() {
        requested = request.bytes();
        attempts = 0;
        moved = 0;
        failure = null;
    }

    /** Ends the request with the result of the command. */
    final void report() {
        clear();
        request.end(moved, failure);
    }

    /** Drops references of the request, which is about to end. */
    protected void clear() {}

    /** Returns whether it moves bytes from memory to a file. */
    public final boolean isWrite() {
        return request.kind() == Request.Kind.WRITE;
    }

    /** Returns the file. Not for copies. */
    public final SsgFile file() {
        return (SsgFile) request.file();
    }

    /** Returns the file object, while the device holds the command. */
    public final SsgFileObject object() {
        return Objects.requireNonNull(object);
    }

    /** Returns the ring buffer through which the bytes move; null if the disk reaches the memory. */
    public final @Nullable DeviceMemory ring() {
        return ring;
    }

    /** Sets how many bytes to move for a file of {@code size} bytes, and returns that number. */
    final long limitTo(long size) {
        requested = upTo(size, request.bytes());
        return requested;
    }

    /** Returns how many of the request's bytes to move: up to the end of the file, if its size was checked. */
    public final long requestedBytes() {
        return requested;
    }

    /** Returns the offset in the file at which the command ends. */
    final long end() {
        return request.fileOffset() + requested;
    }

    /** Returns the bytes that the driver is to move: whole blocks. */
    public final long wholeBlocks() {
        long block = file().limits().fileAlignment();
        return (requested + block - 1) & -block;
    }

    /** Returns whether a file of {@code size} bytes must be extended first, since not every driver does so. */
    final boolean lengthens(long size) {
        return isWrite() && size < end();
    }

    /**
     * Completes it: the driver has moved all blocks. Counts the bytes, since no driver does: up to the end of the file,
     * also if it was truncated meanwhile.
     */
    final void ends() {
        try {
            ends(request.kind() == Request.Kind.READ ? upTo(file().size(), requested) : requested);
        } catch (IOException e) {
            fails(e);
        }
    }

    private long upTo(long size, long most) {
        return request.kind() == Request.Kind.READ ? Math.max(0, Math.min(most, size - request.fileOffset())) : most;
    }

    /** Syncs the file. Blocks. */
    final void sync() throws IOException {
        long answer = file().host().sync();
        if (answer < 0) {
            fails(HostFailure.of(request.kind(), answer));
        }
    }

    /** Returns whether its file was not yet prepared for it. */
    final boolean isFirstAttempt() {
        return attempts == 0;
    }

    /** Returns whether its file may be prepared once more. */
    final boolean mayTryAgain() {
        return attempts < MOST_ATTEMPTS;
    }

    /** Returns whether its file has become shorter than a read of it, and the read may be tried again. */
    final boolean isCut() {
        try {
            return request.kind() == Request.Kind.READ && mayTryAgain() && file().size() < end();
        } catch (IOException e) {
            return false;
        }
    }

    /** Counts a failed attempt. */
    final void tryAgain() {
        attempts++;
        failure = null;
    }

    /** Returns the bytes moved, if it has not failed. */
    public final long moved() {
        return moved;
    }

    /** Returns why it has failed; null if it has not. */
    public final @Nullable NativeFailure failure() {
        return failure;
    }

    public final boolean hasFailed() {
        return failure != null;
    }

    /** Ends it, successfully if {@code cause} is null. */
    public final void ends(long bytes, @Nullable NativeFailure cause) {
        moved = bytes;
        failure = cause;
    }

    /** Completes it. */
    final void ends(long bytes) {
        ends(bytes, null);
    }

    public final void fails(NativeFailure cause) {
        ends(0, cause);
    }

    /** Fails it with an exception: the driver's error, or an error of host I/O. */
    final void fails(Throwable cause) {
        NativeError answer = cause instanceof SsgRefusal refusal ? refusal.nativeError() : null;
        fails(
                answer != null
                        ? new NativeFailure(answer, NativeFailure.Kind.PERMANENT)
                        : HostFailure.of(request.kind(), cause));
    }
}
