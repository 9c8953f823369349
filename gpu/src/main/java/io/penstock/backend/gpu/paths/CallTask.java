// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.backend.gpu.device.GpuPoint;
import io.penstock.backend.gpu.file.GpuFile;
import io.penstock.backend.gpu.file.SpanRegistration;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import org.jspecify.annotations.Nullable;

/**
 * The state that the queues of the file API keep for a request; one object per tag.
 *
 * <p><b>Threading:</b> the I/O queue's thread, except while a {@link CallQueue} has lent it to one of its threads; the
 * queues in between order the accesses.
 */
public final class CallTask {

    final Request request;
    public final int tag;
    long bytes;
    private long moved;
    private @Nullable NativeFailure failure;
    private long done; // of a transfer that was short within a block
    private long sparse; // found by ask
    private boolean askedHoles; // as above
    private boolean toAsk; // the file, on a thread, before the file API is called

    @Nullable
    public GpuPoint point;

    @Nullable
    public Runnable inOrder;

    boolean asksOnly; // lent to a thread that only asks the file
    boolean cancelled; // while it did

    CallTask(Request request) {
        this.request = request;
        this.tag = request.tag();
    }

    /** Starts the request that the tag now holds. */
    void begin() {
        bytes = request.bytes();
        toAsk = request.kind() == Request.Kind.READ && isOfFileApi(request);
        askedHoles = false;
        asksOnly = false;
        cancelled = false;
        point = (GpuPoint) request.point();
        inOrder = request.inOrder();
        moved = 0;
        failure = null;
        done = 0;
        if (toAsk && file().lane() == null) {
            askLength();
        }
    }

    /** Asks a file, which may take the time of a server, what {@link #sparseBytes} must know. */
    void ask() {
        askLength();
        sparse = file().sparseBytes(restOffset(), bytes);
        askedHoles = true;
    }

    /** Asks a file that was not yet asked how many bytes to request. */
    void askLength() {
        if (toAsk) {
            bytes = file().askedBytes(request.fileOffset(), request.bytes());
            toAsk = false;
        }
    }

    /**
     * Returns true if the file is to be asked on a thread that may block.
     *
     * @param holes whether the call leaves the bytes of holes unwritten
     */
    boolean mustAsk(boolean holes) {
        return toAsk && (holes || request.fileOffset() % FileApi.BLOCK_BYTES != 0);
    }

    /** Returns how many of the bytes still to be moved a read may leave unwritten; see {@link GpuFile#sparseBytes}. */
    public long sparseBytes() {
        if (kind() != Request.Kind.READ) {
            return 0;
        }
        return askedHoles ? Math.max(0, Math.min(sparse - done, rest())) : file().sparseBytes(restOffset(), rest());
    }

    /** Completes it: the last part moved {@code last} bytes. */
    void ends(long last) {
        moved = done + last;
    }

    public void fails(NativeFailure cause) {
        failure = cause;
    }

    /** Returns why it failed; null if it has not. */
    @Nullable
    public NativeFailure failure() {
        return failure;
    }

    /** Completes the request with the result of the task. */
    void report() {
        point = null;
        inOrder = null;
        request.end(moved, failure);
    }

    public Request.Kind kind() {
        return request.kind();
    }

    /** Returns true if a request is between a file and GPU memory, and so for the file API. */
    static boolean isOfFileApi(Request request) {
        return (request.kind() == Request.Kind.READ || request.kind() == Request.Kind.WRITE)
                && request.memory() instanceof GpuMemory;
    }

    public GpuFile file() {
        return (GpuFile) request.file();
    }

    GpuMemory gpuMemory() {
        return (GpuMemory) request.memory();
    }

    /** Returns the buffer pointer for the file API: for registered memory, the pointer that was registered. */
    public long base() {
        GpuMemory gpu = gpuMemory();
        return SpanRegistration.of(gpu.span()).isActive()
                ? gpu.span().address()
                : gpu.nativeHandle() + request.memoryOffset() + done;
    }

    /** Returns the offset of the bytes from {@code base}. */
    public long offsetFrom(long base) {
        return gpuMemory().nativeHandle() + request.memoryOffset() + done - base;
    }

    /** Returns the number of bytes still to be moved. */
    public long rest() {
        return bytes - done;
    }

    /** Makes {@code size} the number of bytes still to be moved: the device has decided it. */
    public void resize(long size) {
        bytes = done + size;
        request.resize(bytes);
    }

    /** Returns their offset in the file. */
    public long restOffset() {
        return request.fileOffset() + done;
    }

    /**
     * Adds the bytes that a call moved, and returns true if the rest must be requested right away. It may return a
     * short count anywhere; the I/O queue treats a partial block of a whole-block file as its end, so it must not see
     * one before.
     */
    public boolean goesOn(long moved) {
        boolean inBlock = moved > 0 && (done + moved) % file().limits().fileAlignment() != 0;
        if (kind() != Request.Kind.READ || !inBlock || moved >= rest()) {
            return false;
        }
        done += moved;
        return true;
    }
}
