// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.StagingDevice;
import io.penstock.engine.spi.ThreadRule;

/** Copies between mapped slots and GL's buffers, on the thread of the context. */
final class GlCopies implements StagingDevice {

    private final GlContext context;
    private final HostSlotCopies hostSlots;
    private final TextureCopies textures = new TextureCopies();
    private final CopyFences fences;

    GlCopies(GlContext context) {
        this.context = context;
        this.fences = new CopyFences(context);
        this.hostSlots = new HostSlotCopies(context, this, fences);
        context.atEnd(hostSlots::close);
    }

    @Override
    public ThreadRule threads() {
        return context.isOwnThread() ? ThreadRule.ONE : ThreadRule.PUMP;
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return context.call("allocation of a slot", () -> GlSlot.allocate(context, bytes, true));
    }

    @Override
    public long copyIn(Command command) {
        GlPoint point = (GlPoint) command.point();
        int notOrdered = point == null ? GlError.NO_ERROR : point.enter();
        if (notOrdered != GlError.NO_ERROR) {
            return GlCall.DEVICE_WAIT.failed(notOrdered);
        }
        if (!(command.slot() instanceof GlSlot slot)) {
            return hostSlots.copyIn(command);
        }
        return fill(command, slot.name(), slot.start() + command.slotOffset());
    }

    /** Copies what a command names from a buffer on, to a buffer or into a texture. */
    long fill(Command command, int from, long at) {
        if (command.memory() instanceof GlImage image) {
            textures.copy(from, at, image, command.memoryOffset(), command.bytes());
            return fences.behind(GlCall.TEXTURE);
        }
        GlMemory target = (GlMemory) command.memory();
        context.buffers().copy(from, at, target.name(), command.memoryOffset(), command.bytes());
        return fences.behind(GlCall.COPY);
    }

    /** Copies between buffers, as {@link #copyIn} does. */
    long copy(GlMemory from, long fromAt, GlMemory to, long toAt, long bytes) {
        context.buffers().copy(from.name(), fromAt, to.name(), toAt, bytes);
        return fences.behind(GlCall.COPY);
    }

    @Override
    public long copyOut(Command command) {
        GlMemory source = (GlMemory) command.memory();
        if (!(command.slot() instanceof GlSlot slot)) {
            return hostSlots.copyOut(command);
        }
        long to = slot.start() + command.slotOffset();
        context.buffers().copy(source.name(), command.memoryOffset(), slot.name(), to, command.bytes());
        return fences.behind(GlCall.COPY);
    }

    @Override
    public long poll(long ticket) {
        long answer = fences.poll(ticket);
        if (answer != 0) {
            hostSlots.ended(ticket, answer > 0);
        }
        return answer;
    }

    @Override
    public long await(long ticket, long nanos) {
        return poll(ticket); // asked by threads that may all call the device, and here there is one
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        return GlCall.failure(result);
    }
}
