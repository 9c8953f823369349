// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.BufferRegion;
import io.penstock.DeviceFence;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Route;
import io.penstock.engine.spi.ssg.SsgFile;
import io.penstock.engine.spi.ssg.SsgHandle;
import io.penstock.engine.spi.ssg.SsgRefusal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The way by AMD's extension, from the disk to the device. A backend has two, which share files and lane: one straight into
 * buffers that a disk can reach, one through a ring of persistent memory into all others.
 */
final class SsgRoute implements Route {

    private final SsgSession session;
    private final boolean straight;

    // The largest block of the files so far; files of one disk have the same.
    private volatile long blockBytes = 1;

    /**
     * Describes the way.
     *
     * @param straight whether it is the one without the ring
     */
    SsgRoute(SsgSession session, boolean straight) {
        this.session = session;
        this.straight = straight;
    }

    @Override
    public TransferPath path() {
        return TransferPath.DIRECT;
    }

    /** {@inheritDoc} The driver falls back to ordinary memory without a word. */
    @Override
    public Evidence evidence() {
        return Evidence.INFERRED;
    }

    @Override
    public String reason() {
        String computed = "counts are computed, since the driver gives none, and where it has fallen back to ordinary"
                + " memory it does not say";
        return straight
                ? computed
                : "through " + (session.ring().bytes() >> 10) + " KiB of persistent memory and a copy on the device; "
                        + computed;
    }

    @Override
    public String remedy() {
        return straight
                ? ""
                : "buffers of this backend's within " + OpenClOptions.PERSISTENT_BYTES
                        + ", or made with CL_MEM_USE_PERSISTENT_MEM_AMD";
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        SsgHandle handle = session.files().open(path, options);
        long block = handle.blockBytes();
        long piece = session.sizes().pieceBytes() & -block;
        if (piece == 0) {
            session.files().close(handle);
            throw new SsgRefusal("blocks of " + block + " bytes are larger than " + OpenClOptions.SSG_PIECE_BYTES);
        }
        blockBytes = Math.max(blockBytes, block);
        // Through the ring the device's own copies go to any byte of the buffer.
        return new SsgFile(session.files(), handle, new Limits(block, straight ? block : 1, piece, piece, false), true);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        if (!(file instanceof SsgFile)) {
            return "the file was opened for another path";
        }
        if (!(memory instanceof ClMemory buffer)) {
            return "the target is not a buffer of this device";
        }
        if (!straight) {
            return session.ring().isAbsent()
                    ? "there is no persistent memory left for a ring: see " + OpenClOptions.PERSISTENT_BYTES
                    : "";
        }
        return buffer.span().isReachable()
                ? ""
                : "the buffer was made without CL_MEM_ALLOC_HOST_PTR, CL_MEM_USE_HOST_PTR or"
                        + " CL_MEM_USE_PERSISTENT_MEM_AMD, or closed to the host";
    }

    @Override
    public String refusal(Transfer transfer) {
        // Edges go by slots, whose commands are ours.
        return transfer.queue().isEmpty() || isWholeBlocks(transfer)
                ? ""
                : "its edges are no multiples of " + blockBytes
                        + " bytes, and only whole blocks go into a command queue" + " of the application's";
    }

    /**
     * {@inheritDoc} Only what is whole blocks of reachable memory, and so holds no slot while it waits (rule 304); and not
     * too much of the lane. A deadline is the lane's to keep.
     */
    @Override
    public boolean awaits(Transfer transfer, FencePoint point, DeviceFence fence) {
        if (!straight || !session.runsOutOfOrder() || transfer.deadline().isPresent() || !isWholeBlocks(transfer)) {
            return false;
        }
        long commands = transfer.pairs() + transfer.length() / session.sizes().pieceBytes();
        long event = fence.nativeHandle();
        boolean retained =
                fence instanceof ClFence ours ? ours.retain() : OpenCl.clRetainEvent(event) == OpenClError.SUCCESS;
        if (!retained) {
            return false;
        }
        boolean awaited =
                isOfContext(event) && ((ClPoint) point).await(fence, session.waits(), commands, transfer.length());
        if (!awaited) {
            OpenCl.clReleaseEvent(event);
        }
        return awaited;
    }

    private boolean isWholeBlocks(Transfer transfer) {
        long edges = transfer.isGather() ? offset(transfer.target()) : 0;
        for (int pair = 0; pair < transfer.pairs(); pair++) {
            edges |= transfer.fileOffset(pair) | transfer.pairLength(pair);
            edges |= transfer.isGather() ? 0 : offset(transfer.target(pair));
        }
        return (edges & (blockBytes - 1)) == 0;
    }

    private long offset(Target target) {
        return straight && target instanceof BufferRegion region ? region.offset() : 0;
    }

    private boolean isOfContext(long event) {
        Info info = new Info(
                "a cl_event",
                "clGetEventInfo",
                (name, bytes, value, length) -> OpenCl.clGetEventInfo(event, name, bytes, value, length));
        return info.word(OpenCl.CL_EVENT_CONTEXT) == session.context().handle();
    }

    @Override
    public Object sharing() {
        return session;
    }

    @Override
    public int lanes() {
        return 1;
    }

    @Override
    public NativeQueue openQueue() {
        return new SsgQueue(session);
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return SsgSlot.allocate(session, bytes);
    }
}
