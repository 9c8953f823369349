// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ssg;

import io.penstock.BufferRegion;
import io.penstock.DeviceFence;
import io.penstock.PenstockException;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.backend.opencl.cl.ClFence;
import io.penstock.backend.opencl.cl.Info;
import io.penstock.backend.opencl.context.ClPoint;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.kit.ssg.SsgPath;
import io.penstock.engine.spi.FencePoint;

/** The path by AMD's extension, whose commands may wait for fences on the device. */
public final class ClSsgPath extends SsgPath {

    private final ClSsg ssg;

    public ClSsgPath(ClSsg ssg, boolean straight) {
        super(ssg, straight);
        this.ssg = ssg;
    }

    @Override
    public String refusal(Transfer transfer) {
        // Edges use staging buffers, whose commands go to internal queues.
        return transfer.queue().isEmpty() || isWholeBlocks(transfer)
                ? ""
                : "its edges are not multiples of " + blockBytes()
                        + " bytes, and an application's command queue carries whole blocks only";
    }

    /**
     * {@inheritDoc} Only whole blocks of reachable memory, which hold no staging buffer while they wait (rule 304), and
     * only a part of the I/O queue. Deadlines are enforced by the I/O queue. In the application's queue nothing waits:
     * a command whose wait fails is submitted again, and its place in the order would be lost.
     */
    @Override
    public boolean awaits(Transfer transfer, FencePoint point, DeviceFence fence) {
        boolean ordered = transfer.deadline().isPresent() || transfer.queue().isPresent();
        if (!isStraight() || !ssg.runsOutOfOrder() || ordered || !isWholeBlocks(transfer)) {
            return false;
        }
        long commands = transfer.pairs() + transfer.length() / ssg.sizes().segmentBytes();
        long event = fence.nativeHandle();
        boolean retained =
                fence instanceof ClFence ours ? ours.retain() : OpenCl.clRetainEvent(event) == OpenClError.SUCCESS;
        if (!retained) {
            return false;
        }
        boolean awaited =
                isOfContext(event) && ((ClPoint) point).await(fence, ssg.waits(), commands, transfer.length());
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
        return (edges & (blockBytes() - 1)) == 0;
    }

    private long offset(Target target) {
        return isStraight() && target instanceof BufferRegion region ? region.offset() : 0;
    }

    private boolean isOfContext(long event) {
        try {
            return Info.event(event).word(OpenCl.CL_EVENT_CONTEXT)
                    == ssg.context().handle();
        } catch (PenstockException unknown) {
            return false; // the host waits for it, and reports what it finds
        }
    }
}
