// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gl;

import io.penstock.Completion;
import io.penstock.ImageRegion;
import io.penstock.ImageRegion.Layout;
import io.penstock.ImageRegion.Texels;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.renderer.gl.ffi.GlCalls;
import io.penstock.renderer.volume.BadVolumeException;
import io.penstock.renderer.volume.DeviceComposition;
import io.penstock.renderer.volume.DevicePlace;
import io.penstock.renderer.volume.NiftiHeader;
import io.penstock.renderer.volume.SlabPlan;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A few 3D textures that stream the slabs of a volume from the file to shaders: while these read one, the next ones are
 * filled.
 *
 * <p><b>Ownership:</b> close it after all that it has shown has completed, and before the application.
 */
public final class BrickStream implements AutoCloseable {

    private final GlApplication application;
    private final NiftiHeader header;
    private final SlabPlan plan;
    private final List<Brick> bricks = new ArrayList<>();

    /** A texture, and the shaders' use of it. */
    private record Brick(int texture, TextureUse use) {}

    /**
     * Creates the textures.
     *
     * @param plan its depth is the number of textures, its thickest slab their size
     * @throws BadVolumeException if OpenGL does not support that size
     */
    public BrickStream(GlApplication application, NiftiHeader header, SlabPlan plan) throws BadVolumeException {
        this.application = application;
        this.header = header;
        this.plan = plan;
        int most = mostTexels(application);
        if (header.columns() > most || header.rows() > most) {
            throw new BadVolumeException("slices of %d by %d voxels exceed the largest 3D texture, %d a side"
                    .formatted(header.columns(), header.rows(), most));
        }
        try {
            for (int i = 0; i < plan.depth(); i++) {
                bricks.add(new Brick(application.call(this::texture), new TextureUse(application)));
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Returns the maximum size of 3D textures in each direction. */
    public static int mostTexels(GlApplication application) {
        return application.number(GlCalls.GL_MAX_3D_TEXTURE_SIZE);
    }

    private int texture() {
        int[] name = new int[1];
        int slices = (int) (plan.chunkBytes() / header.sliceBytes());
        GlCalls.glCreateTextures(GlCalls.GL_TEXTURE_3D, 1, name);
        GlCalls.glTextureStorage3D(name[0], 1, format(), header.columns(), header.rows(), slices);
        // Integers cannot be interpolated: a texture with such a filter is incomplete and reads as zeros.
        GlCalls.glTextureParameteri(name[0], GlCalls.GL_TEXTURE_MIN_FILTER, GlCalls.GL_NEAREST);
        GlCalls.glTextureParameteri(name[0], GlCalls.GL_TEXTURE_MAG_FILTER, GlCalls.GL_NEAREST);
        try {
            GlApplication.check("glTextureStorage3D of " + plan.chunkBytes() + " bytes");
        } catch (RuntimeException | Error e) {
            GlCalls.glDeleteTextures(1, name);
            throw e;
        }
        return name[0];
    }

    /** The format for the bits of voxels; shaders interpret them. */
    private int format() {
        return switch (header.type().bytes()) {
            case 1 -> GlCalls.GL_R8UI;
            case 2 -> GlCalls.GL_R16UI;
            default -> GlCalls.GL_R32UI;
        };
    }

    /**
     * Shows all slabs to a composition, in the order of the plan.
     *
     * <p><b>Result:</b> the completion of each, once the shaders that read it are enqueued.
     *
     * <p><b>Threading:</b> signals are delivered on the application's thread.
     */
    public Flux<Completion> show(StorageFile file, DeviceComposition composition) {
        // One is read by shaders, the others are being filled.
        return Flux.range(0, plan.slabs().size())
                .flatMapSequential(index -> Mono.defer(() -> fill(file, index)), plan.depth() - 1, 1)
                .index()
                .concatMap(
                        filled -> Mono.fromCallable(() ->
                                        compose(composition, filled.getT1().intValue(), filled.getT2()))
                                .subscribeOn(application.scheduler()),
                        0); // the next is requested once this one was shown: then a texture is free
    }

    private Brick brick(int index) {
        return bricks.get(index % bricks.size());
    }

    private Mono<Completion> fill(StorageFile file, int index) {
        SlabPlan.Range range = plan.slabs().get(index);
        Brick brick = brick(index);
        int bytes = header.type().bytes();
        Layout layout = new Layout(format(), bytes, (long) header.columns() * bytes, header.sliceBytes());
        Texels extent = new Texels(header.columns(), header.rows(), range.to() - range.from());
        Transfer transfer = Transfer.read(
                file.region(range.fileOffset(), range.bytes()),
                new ImageRegion(brick.texture, 0, new Texels(0, 0, 0), extent, layout));
        return application.backend().submit(brick.use.before(transfer));
    }

    private Completion compose(DeviceComposition composition, int index, Completion filled) throws BadVolumeException {
        SlabPlan.Range range = plan.slabs().get(index);
        if (filled.bytes() != range.bytes()) {
            throw new BadVolumeException("the volume was truncated while it was read: " + filled.bytes() + " of "
                    + range.bytes() + " bytes at " + range.fileOffset());
        }
        Brick brick = brick(index);
        brick.use.forget(); // the transfer that waited for it has completed
        composition.visit(range, new DevicePlace(brick.texture, 0));
        brick.use.begun();
        return filled;
    }

    @Override
    public void close() {
        application.run(() -> {
            GlCalls.glFinish();
            for (Brick brick : bricks) {
                brick.use.forget();
                GlCalls.glDeleteTextures(1, new int[] {brick.texture});
            }
            bricks.clear();
        });
    }
}
