// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.staged;

import io.penstock.NativeError;
import io.penstock.PenstockException;
import io.penstock.backend.gl.context.GlCall;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.fence.GlPoint;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.backend.gl.image.GlImage;
import io.penstock.backend.gl.image.TextureCopies;
import io.penstock.backend.gl.memory.GlMemory;
import io.penstock.backend.gl.memory.GlStagingBuffer;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import org.jspecify.annotations.Nullable;

/** Copies between staging buffers and GL buffers and textures, on the context's thread. */
public final class GlCopies implements StagingDevice {

    private static final long LEAST_BOUNCE_BYTES = 4096;

    private final GlContext context;
    private final GlStagingBuffer.Pool stagingBuffers;
    private final TextureCopies textures = new TextureCopies();
    private final CopyFences fences;

    public GlCopies(GlContext context) {
        this.context = context;
        this.fences = new CopyFences(context);
        this.stagingBuffers = GlStagingBuffer.Pool.of(context);
    }

    @Override
    public ThreadRule threads() {
        return context.isOwnThread() ? ThreadRule.ONE : ThreadRule.PUMP;
    }

    @Override
    public DeviceMemory allocateStagingBuffer(long bytes) {
        return stagingBuffers.take(bytes);
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
        if (request.source() instanceof GlMemory source) {
            failure = start(request, copy, source.name(), request.sourceOffset());
        } else if (request.staging() instanceof GlStagingBuffer staging) {
            failure = start(request, copy, staging.name(), staging.start() + request.stagingOffset());
        } else if (request.staging() instanceof GlMemory buffer) {
            failure = start(request, copy, buffer.name(), request.stagingOffset());
        } else {
            failure = bounce(request, copy);
        }
        if (failure != null) {
            end(request, copy, failure);
        }
    }

    /**
     * Copies between the bytes of a staging buffer from {@code at} on, in the buffer of that name, and the memory of
     * the request.
     */
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

    /**
     * Copies by a buffer in between: uploads, downloads and the edges of blocks use plain memory, which GL does not
     * know, since allocating it must not wait for the context's thread.
     */
    private @Nullable NativeFailure bounce(Request request, GlCopy copy) {
        DeviceMemory staging = request.staging();
        GlStagingBuffer bounce;
        try {
            bounce = stagingBuffers.take(rounded(staging.bytes()));
        } catch (PenstockException none) {
            NativeError error = none.nativeError().orElseThrow(() -> none);
            return GlCall.ALLOCATE.failure((int) error.code());
        }
        copy.bounce = bounce;
        if (request.isInward()) {
            NativeMemory.copy(bounce.hostAddress(), staging.hostAddress() + request.stagingOffset(), request.bytes());
        }
        return start(request, copy, bounce.name(), bounce.start());
    }

    /** Returns a size that buffers for most requests have in common: a power of two. */
    private static long rounded(long bytes) {
        return Math.max(LEAST_BOUNCE_BYTES, Long.highestOneBit(Math.max(1, bytes - 1)) << 1);
    }

    @Override
    public void poll(Request request) {
        GlCopy copy = GlCopy.of(request);
        if (fences.hasEnded(copy)) {
            end(request, copy, fences.failure(copy));
        }
    }

    /** {@inheritDoc} As the commands of a context do. */
    @Override
    public boolean endsInOrder() {
        return true;
    }

    private void end(Request request, GlCopy copy, @Nullable NativeFailure failure) {
        GlStagingBuffer bounce = copy.bounce;
        copy.bounce = null;
        if (bounce != null) {
            if (failure == null && !request.isInward()) {
                long target = request.staging().hostAddress() + request.stagingOffset();
                NativeMemory.copy(target, bounce.hostAddress(), request.bytes());
            }
            bounce.free();
        }
        request.end(request.bytes(), failure);
    }

    @Override
    public void await(Request request, long nanos) {
        poll(request); // for threads that may all call the device; here there is one
    }
}
