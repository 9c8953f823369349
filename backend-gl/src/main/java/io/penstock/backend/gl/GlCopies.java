// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.NativeError;
import io.penstock.PenstockException;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ffi.NativeMemory;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import org.jspecify.annotations.Nullable;

/** Copies between slots and GL's buffers and textures, on the thread of the context. */
final class GlCopies implements StagingDevice {

    private final GlContext context;
    private final BounceSlots bounces;
    private final TextureCopies textures = new TextureCopies();
    private final CopyFences fences;

    GlCopies(GlContext context) {
        this.context = context;
        this.fences = new CopyFences(context);
        this.bounces = new BounceSlots(context);
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
    public void copy(Request request) {
        GlCopy copy = GlCopy.of(request);
        GlPoint point = (GlPoint) request.point();
        int notOrdered = point == null || !request.isInward() ? GlError.NO_ERROR : point.enter();
        if (notOrdered != GlError.NO_ERROR) {
            request.fail(GlCall.DEVICE_WAIT.failure(notOrdered));
            return;
        }
        NativeFailure failure;
        if (request.slot() instanceof GlSlot slot) {
            failure = start(request, copy, slot.name(), slot.start() + request.slotOffset());
        } else if (request.slot() instanceof GlMemory buffer) {
            failure = start(request, copy, buffer.name(), request.slotOffset());
        } else {
            failure = bounce(request, copy);
        }
        if (failure != null) {
            end(request, copy, failure);
        }
    }

    /** Copies between a slot's bytes from {@code at} on, in the buffer of that name, and what the request names. */
    private @Nullable NativeFailure start(Request request, GlCopy copy, int name, long at) {
        if (request.memory() instanceof GlImage image) {
            textures.copy(name, at, image, request.memoryOffset(), request.bytes());
            return fences.behind(GlCall.TEXTURE, copy);
        }
        int buffer = ((GlMemory) request.memory()).name();
        if (request.isInward()) {
            context.buffers().copy(name, at, buffer, request.memoryOffset(), request.bytes());
        } else {
            context.buffers().copy(buffer, request.memoryOffset(), name, at, request.bytes());
        }
        return fences.behind(GlCall.COPY, copy);
    }

    private @Nullable NativeFailure bounce(Request request, GlCopy copy) {
        DeviceMemory slot = request.slot();
        GlSlot bounce;
        try {
            bounce = bounces.take(slot.bytes());
        } catch (PenstockException none) {
            NativeError error = none.nativeError().orElseThrow(() -> none);
            return GlCall.ALLOCATE.failure((int) error.code());
        }
        copy.bounce = bounce;
        if (request.isInward()) {
            NativeMemory.copy(bounce.hostAddress(), slot.hostAddress() + request.slotOffset(), request.bytes());
        }
        return start(request, copy, bounce.name(), bounce.start());
    }

    @Override
    public void poll(Request request) {
        GlCopy copy = GlCopy.of(request);
        if (fences.hasEnded(copy)) {
            end(request, copy, fences.failure(copy));
        }
    }

    private void end(Request request, GlCopy copy, @Nullable NativeFailure failure) {
        GlSlot bounce = copy.bounce;
        copy.bounce = null;
        if (bounce != null) {
            if (failure == null && !request.isInward()) {
                long target = request.slot().hostAddress() + request.slotOffset();
                NativeMemory.copy(target, bounce.hostAddress(), request.bytes());
            }
            bounces.give(bounce);
        }
        request.end(request.bytes(), failure);
    }

    @Override
    public void await(Request request, long nanos) {
        poll(request); // asked by threads that may all call the device, and here there is one
    }
}
