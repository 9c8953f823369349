// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.memory;

import io.penstock.ImageRegion;
import io.penstock.backend.dx11.Dx11Options;
import io.penstock.backend.dx11.device.CopyMark;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.kit.staging.ImageBoxes;
import io.penstock.engine.spi.DeviceMemory;

/**
 * A box of texels of a texture for one transfer; its bytes are counted in file layout. Holds one reference to the
 * texture.
 */
public final class Dx11Image implements DeviceMemory {

    private final ImageRegion region;
    private final long texture;
    private final TextureShape shape;
    private final ImageBoxes boxes;

    private Dx11Image(ImageRegion region, long texture, TextureShape shape) {
        this.region = region;
        this.texture = texture;
        this.shape = shape;
        // Any pitch is valid: the processor moves the texels first. Slices of an array are separate resources.
        this.boxes = new ImageBoxes(region, true, shape.isDeep());
        LiveObjects.add(Dx11Image.class);
    }

    /**
     * Checks that the layout is valid for texels in a file; does not check what depends on the texture.
     *
     * @throws IllegalArgumentException if the layout is invalid
     */
    public static void check(ImageRegion.Layout layout) {
        int bytes = TextureShape.texelBytes(layout.format());
        if (bytes == 0) {
            throw new IllegalArgumentException("DXGI format " + layout.format() + " is not supported:"
                    + " a format must have texels of whole bytes, and no depth, blocks or planes");
        }
        if (bytes != layout.texelBytes()) {
            throw new IllegalArgumentException("texels of " + layout.texelBytes() + " bytes, but texels of DXGI format "
                    + layout.format() + " have " + bytes);
        }
    }

    /**
     * Takes a reference.
     *
     * @throws IllegalArgumentException if it is not a texture of the device that files can be read into
     * @throws IndexOutOfBoundsException if the region is not inside the texture
     */
    public static Dx11Image pin(Dx11Device device, ImageRegion region) {
        for (TextureShape.Kind kind : TextureShape.Kind.values()) {
            long texture = region.image() == 0 ? 0 : Com.as(region.image(), kind.table());
            if (texture != 0) {
                try {
                    TextureShape shape = shape(device, kind, texture);
                    shape.check(region);
                    return new Dx11Image(region, texture, shape);
                } catch (RuntimeException | Error e) {
                    Com.Release(texture);
                    throw e;
                }
            }
        }
        throw new IllegalArgumentException("0x" + Long.toHexString(region.image()) + " is not a Direct3D 11 texture");
    }

    private static TextureShape shape(Dx11Device device, TextureShape.Kind kind, long texture) {
        if (!device.owns(texture)) {
            throw new IllegalArgumentException("the texture 0x" + Long.toHexString(texture)
                    + " belongs to another device: see " + Dx11Options.DEVICE);
        }
        return TextureShape.of(kind, texture);
    }

    /** Returns the splitter of its bytes into boxes; used by the executor. */
    public ImageBoxes boxes() {
        return boxes;
    }

    /** Returns the layout of its texels in the file. */
    public ImageRegion.Layout layout() {
        return region.layout();
    }

    /** Returns the address of the current box in its subresource; see {@link CopyMark#box}. */
    public long box(CopyMark mark) {
        ImageRegion.Texels origin = region.origin();
        return mark.box(
                origin.x() + boxes.column(),
                origin.y() + boxes.row(),
                shape.isDeep() ? origin.z() + boxes.slice() : 0,
                boxes.columns(),
                boxes.rows(),
                boxes.slices());
    }

    /** Returns the number of the subresource that the current box is in. */
    public int subresource() {
        return region.level() + (shape.isDeep() ? 0 : (region.origin().z() + boxes.slice()) * shape.levels());
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
        LiveObjects.remove(Dx11Image.class);
        Com.Release(texture);
    }
}
