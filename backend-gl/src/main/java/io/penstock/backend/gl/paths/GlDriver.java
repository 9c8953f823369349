// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.paths;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.FenceSupport;
import io.penstock.ImageRegion;
import io.penstock.Transfer;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.context.GlFacts;
import io.penstock.backend.gl.fence.GlFence;
import io.penstock.backend.gl.fence.GlPoint;
import io.penstock.backend.gl.image.GlImage;
import io.penstock.backend.gl.memory.GlMemory;
import io.penstock.backend.gl.ssg.GlSsg;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.IoPath;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A GL context as a device; its calls wait for the context's thread, which takes microseconds. */
final class GlDriver implements DeviceDriver {

    private final GlContext context;
    private final boolean mapped;
    private final @Nullable GlSsg ssg;
    private final Capabilities capabilities;

    /** Takes over one reference to the context, and to AMD's extension where the paths use it. */
    GlDriver(GlContext context, GlPaths ioPaths) {
        this.context = context;
        this.mapped = ioPaths.mapped();
        this.ssg = ioPaths.ssg();
        GlFacts facts = context.facts();
        this.capabilities = new Capabilities(
                facts.renderer(),
                !facts.isSoftware(),
                IoPath.kinds(ioPaths.all()),
                FenceSupport.AFTER_STAGING,
                mapped && ssg == null,
                facts.hasNamedBuffers(),
                Set.of("OpenGL " + facts.version() + ", " + facts.vendor()));
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    @Override
    public DeviceMemory allocate(long bytes) {
        long some = Math.max(bytes, 1); // GL has no empty buffers
        return context.call("allocation of " + bytes + " bytes", () -> allocateHere(some));
    }

    private DeviceMemory allocateHere(long bytes) {
        GlMemory visible = ssg == null ? null : ssg.allocate(bytes);
        return visible != null ? visible : GlMemory.allocate(context, bytes, mapped);
    }

    @Override
    public DeviceMemory wrap(long nativeHandle, long bytes) {
        return context.call(
                "wrapping of the GL buffer " + nativeHandle, () -> GlMemory.wrap(context, nativeHandle, bytes));
    }

    @Override
    public DeviceMemory wrap(ByteBuffer memory) {
        throw new IllegalArgumentException(
                "OpenGL cannot wrap host memory: wrap the name of a buffer, or open backend host for " + memory);
    }

    @Override
    public void checkImage(ImageRegion region) {
        GlImage.of(region);
    }

    /** {@inheritDoc} Textures are names: GL reports a deleted one as an error. */
    @Override
    public DeviceMemory image(ImageRegion region) {
        return GlImage.of(region);
    }

    @Override
    public DeviceFence fence(long nativeEvent) {
        return context.call(
                "import of the GLsync 0x" + Long.toHexString(nativeEvent),
                () -> GlFence.imported(context, nativeEvent));
    }

    @Override
    public @Nullable FencePoint fencePoint(Transfer transfer, boolean exposed) {
        return exposed || transfer.isRead() ? new GlPoint(context, exposed) : null;
    }

    @Override
    public void close() {
        context.drain(); // rule 601: files that the backend closes are closed when its close() returns
        if (ssg != null) {
            ssg.leave();
        }
        context.leave();
    }
}
