// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.ImageRegion;
import io.penstock.backend.dx11.ffi.D3d11DeviceChild;
import io.penstock.backend.dx11.ffi.Unknown;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.staging.ImageBoxes;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A box of a texture's texels for one transfer, whose bytes count as they lie in a file; this holds one reference of the
 * texture.
 */
final class Dx11Image implements DeviceMemory {

    static final AtomicLong LIVE = new AtomicLong();

    private final ImageRegion region;
    private final long texture;
    private final TextureShape shape;
    private final ImageBoxes boxes;

    private Dx11Image(ImageRegion region, long texture, TextureShape shape) {
        this.region = region;
        this.texture = texture;
        this.shape = shape;
        // Any pitch does: texels are moved by the processor first. Slices of an array are resources of their own.
        this.boxes = new ImageBoxes(region, true, shape.kind() == TextureKind.THREE);
        LIVE.incrementAndGet();
    }

    /**
     * Goes on if texels may lie so in a file; what only the texture knows is not looked at.
     *
     * @throws IllegalArgumentException if they cannot
     */
    static void check(ImageRegion.Layout layout) {
        int bytes = TexelFormat.bytes(layout.format());
        if (bytes == 0) {
            throw new IllegalArgumentException("DXGI format " + layout.format() + " is none that files are read into:"
                    + " no depth, no blocks, no planes, and texels of whole bytes");
        }
        if (bytes != layout.texelBytes()) {
            throw new IllegalArgumentException("texels of " + layout.texelBytes()
                    + " bytes, where those of DXGI format " + layout.format() + " have " + bytes);
        }
    }

    /**
     * Takes a reference.
     *
     * @throws IllegalArgumentException if it is no texture of the device that files are read into
     * @throws IndexOutOfBoundsException if the region is not inside of it
     */
    static Dx11Image pin(Dx11Device device, ImageRegion region) {
        for (TextureKind kind : TextureKind.values()) {
            long texture = region.image() == 0 ? 0 : Unknown.as(region.image(), kind.table());
            if (texture != 0) {
                try {
                    TextureShape shape = shape(device, kind, texture);
                    shape.check(region);
                    return new Dx11Image(region, texture, shape);
                } catch (RuntimeException e) {
                    Unknown.Release(texture);
                    throw e;
                }
            }
        }
        throw new IllegalArgumentException("0x" + Long.toHexString(region.image()) + " is no texture of Direct3D 11");
    }

    private static TextureShape shape(Dx11Device device, TextureKind kind, long texture) {
        long[] owner = new long[1];
        D3d11DeviceChild.GetDevice(texture, owner);
        Unknown.Release(owner[0]);
        if (owner[0] != device.handle()) {
            throw new IllegalArgumentException(
                    "the texture 0x" + Long.toHexString(texture) + " is another device's: see " + Dx11Options.DEVICE);
        }
        return kind.shape(texture);
    }

    /** Returns what cuts its bytes into boxes; the executor's. */
    ImageBoxes boxes() {
        return boxes;
    }

    ImageRegion.Layout layout() {
        return region.layout();
    }

    /** Returns the column in which the current box begins. */
    int left() {
        return region.origin().x() + boxes.column();
    }

    /** Returns the row in which the current box begins. */
    int top() {
        return region.origin().y() + boxes.row();
    }

    /** Returns the slice of the subresource in which the current box begins. */
    int front() {
        boolean deep = shape.kind() == TextureKind.THREE;
        return deep ? region.origin().z() + boxes.slice() : 0;
    }

    /** Returns the number of the subresource that the current box is in. */
    int subresource() {
        boolean deep = shape.kind() == TextureKind.THREE;
        return region.level() + (deep ? 0 : (region.origin().z() + boxes.slice()) * shape.levels());
    }

    @Override
    public long bytes() {
        return region.length();
    }

    @Override
    public long nativeHandle() {
        return texture;
    }

    @Override
    public long hostAddress() {
        return 0;
    }

    @Override
    public void free() {
        LIVE.decrementAndGet();
        Unknown.Release(texture);
    }
}
