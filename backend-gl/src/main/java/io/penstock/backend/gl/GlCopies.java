// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.StagingDevice;
import io.penstock.engine.spi.ThreadRule;

/** Copies between mapped slots and GL's buffers, on the thread of the context. A ticket is the fence behind the copy. */
final class GlCopies implements StagingDevice {

    /** A context that is lost may leave fences as they were: it is asked about at every so many looks in vain. */
    private static final int LOOKS_PER_QUESTION = 64;

    private final GlContext context;
    private final HostSlotCopies hostSlots;
    private final TextureCopies textures = new TextureCopies();
    private int looks;

    GlCopies(GlContext context) {
        this.context = context;
        this.hostSlots = new HostSlotCopies(context, this);
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
            return fence(context, GlCall.TEXTURE);
        }
        GlMemory target = (GlMemory) command.memory();
        context.buffers().copy(from, at, target.name(), command.memoryOffset(), command.bytes());
        return fence(context, GlCall.COPY);
    }

    /** Copies between buffers, as {@link #copyIn} does. */
    long copy(GlMemory from, long fromAt, GlMemory to, long toAt, long bytes) {
        context.buffers().copy(from.name(), fromAt, to.name(), toAt, bytes);
        return fence(context, GlCall.COPY);
    }

    @Override
    public long copyOut(Command command) {
        GlMemory source = (GlMemory) command.memory();
        if (!(command.slot() instanceof GlSlot slot)) {
            return hostSlots.copyOut(command);
        }
        long to = slot.start() + command.slotOffset();
        context.buffers().copy(source.name(), command.memoryOffset(), slot.name(), to, command.bytes());
        return fence(context, GlCall.COPY);
    }

    /** Puts a fence behind a copy that was just asked for; answers it, or what was wrong with the copy. */
    static long fence(GlContext context, GlCall call) {
        int refused = GlFailure.takeError();
        int reset = refused == GlError.CONTEXT_LOST ? context.resetStatus() : GlError.NO_ERROR;
        if (reset != GlError.NO_ERROR) {
            return GlCall.RESET.failed(reset); // which says by whom
        }
        if (refused != GlError.NO_ERROR) {
            return call.failed(refused); // and nothing was copied
        }
        long sync = Gl.glFenceSync(Gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        if (sync == 0) {
            int failed = GlFailure.takeError();
            Gl.glFinish(); // the copy is under way, and nothing will tell when it has ended
            return GlCall.FENCE.failed(failed);
        }
        Gl.glFlush(); // a fence that is not flushed may never be passed
        return sync;
    }

    @Override
    public long poll(long ticket) {
        int state = Gl.glClientWaitSync(ticket, 0, 0);
        if (state == Gl.GL_TIMEOUT_EXPIRED) {
            return ++looks % LOOKS_PER_QUESTION == 0 ? running() : 0;
        }
        if (state == Gl.GL_WAIT_FAILED || state == 0) {
            int failed = GlFailure.takeError();
            Gl.glDeleteSync(ticket);
            return failedWait(ticket, failed);
        }
        Gl.glDeleteSync(ticket);
        // Fences of a context that is lost count as passed, whatever has become of the copy.
        int reset = context.resetStatus();
        hostSlots.ended(ticket, reset == GlError.NO_ERROR);
        return reset == GlError.NO_ERROR ? 1 : GlCall.RESET.failed(reset);
    }

    private long running() {
        int reset = context.resetStatus();
        return reset == GlError.NO_ERROR ? 0 : GlCall.RESET.failed(reset);
    }

    private long failedWait(long ticket, int failed) {
        int reset = context.resetStatus();
        if (reset == GlError.NO_ERROR && GlFailure.cause(failed).isEmpty()) {
            Gl.glFinish(); // the answer is the question's, not the copy's, which may run on
        }
        hostSlots.ended(ticket, false);
        return reset == GlError.NO_ERROR ? GlCall.WAIT.failed(failed) : GlCall.RESET.failed(reset);
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
