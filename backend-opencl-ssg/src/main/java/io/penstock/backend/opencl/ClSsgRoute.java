// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.BufferRegion;
import io.penstock.DeviceFence;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.ssg.SsgRoute;

/** The path by AMD's extension, whose commands may wait for fences on the device. */
final class ClSsgRoute extends SsgRoute {

    private final ClSsg ssg;

    ClSsgRoute(ClSsg ssg, boolean straight) {
        super(ssg, straight);
        this.ssg = ssg;
    }

    @Override
    public String refusal(Transfer transfer) {
        // Edges go by slots, whose commands are ours.
        return transfer.queue().isEmpty() || isWholeBlocks(transfer)
                ? ""
                : "its edges are no multiples of " + blockBytes()
                        + " bytes, and only whole blocks go into a command queue of the application's";
    }

    /**
     * {@inheritDoc} Only what is whole blocks of reachable memory, and so holds no slot while it waits (rule 304); and not
     * too much of the lane. A deadline is the lane's to keep.
     */
    @Override
    public boolean awaits(Transfer transfer, FencePoint point, DeviceFence fence) {
        if (!isStraight() || !ssg.runsOutOfOrder() || transfer.deadline().isPresent() || !isWholeBlocks(transfer)) {
            return false;
        }
        long commands = transfer.pairs() + transfer.length() / ssg.sizes().pieceBytes();
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
        Info info = new Info(
                "a cl_event",
                "clGetEventInfo",
                (name, bytes, value, length) -> OpenCl.clGetEventInfo(event, name, bytes, value, length));
        return info.word(OpenCl.CL_EVENT_CONTEXT) == ssg.context().handle();
    }
}
