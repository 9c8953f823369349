// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.sync;

import io.penstock.backend.cufile.device.CudaPoint;
import io.penstock.backend.cufile.device.GpuMemory;
import io.penstock.backend.cufile.file.CuFileFile;
import io.penstock.backend.cufile.register.SpanRegistration;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import org.jspecify.annotations.Nullable;

/**
 * What the queues of cuFile keep beside a request; one object per tag.
 *
 * <p><b>Threading:</b> the lane's, except while a {@link CallQueue} has lent it to one of its threads; the queues in
 * between order the accesses.
 */
public final class CallTask {

    final Request request;
    public final int tag;
    long bytes;
    private long moved;
    private @Nullable NativeFailure failure;
    private long done; // of a transfer by cuFile that came short in the middle of a block

    @Nullable
    public CudaPoint point;

    @Nullable
    public Runnable inOrder;

    CallTask(Request request) {
        this.request = request;
        this.tag = request.tag();
    }

    /** Begins with what the request says now. */
    void begin() {
        boolean reads = request.kind() == Request.Kind.READ && isOfCuFile(request);
        bytes = reads ? file().askedBytes(request.fileOffset(), request.bytes()) : request.bytes();
        point = (CudaPoint) request.point();
        inOrder = request.inOrder();
        moved = 0;
        failure = null;
        done = 0;
    }

    /** Ends it with success: the last part has moved {@code last} bytes. */
    void ends(long last) {
        moved = done + last;
    }

    /** Ends it with its cause. */
    public void fails(NativeFailure cause) {
        failure = cause;
    }

    /** Returns why it has failed; null as far as is known. */
    @Nullable
    public NativeFailure failure() {
        return failure;
    }

    /** Ends the request with what the task has come to. */
    void report() {
        point = null;
        inOrder = null;
        request.end(moved, failure);
    }

    public Request.Kind kind() {
        return request.kind();
    }

    /** Returns whether a request is one for cuFile: between a file and memory of a GPU. */
    static boolean isOfCuFile(Request request) {
        return (request.kind() == Request.Kind.READ || request.kind() == Request.Kind.WRITE)
                && request.memory() instanceof GpuMemory;
    }

    public CuFileFile file() {
        return (CuFileFile) request.file();
    }

    GpuMemory gpuMemory() {
        return (GpuMemory) request.memory();
    }

    /** Returns what cuFile is to be given as the buffer: of registered memory the pointer that was registered. */
    public long base() {
        GpuMemory gpu = gpuMemory();
        return SpanRegistration.of(gpu.span()).isActive()
                ? gpu.span().address()
                : gpu.nativeHandle() + request.memoryOffset() + done;
    }

    /** Returns the offset of the bytes in a buffer that starts at {@code base}. */
    public long offsetFrom(long base) {
        return gpuMemory().nativeHandle() + request.memoryOffset() + done - base;
    }

    /** Returns the bytes that are still to be moved. */
    public long rest() {
        return bytes - done;
    }

    /** Returns where in the file they are. */
    public long restOffset() {
        return request.fileOffset() + done;
    }

    /**
     * Takes in what cuFile has moved, and returns whether the rest is to be asked for right away. cuFile may come short
     * anywhere; of a file of whole blocks the lane takes part of a block for the end, so it must not see one before.
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
