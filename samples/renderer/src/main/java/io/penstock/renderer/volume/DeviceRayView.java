// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;
import java.nio.ByteBuffer;
import java.util.function.BiFunction;
import java.util.stream.LongStream;

/**
 * {@link RayView} on a device: the same rays through a window of the same slices, which is a ring there, so nothing is
 * moved when slices are added.
 */
public final class DeviceRayView extends SlicedRays implements DeviceComposition {

    private final int pixels;
    private final Kernels kernels;
    private final DeviceMemory memory;
    private final DeviceFilm film;
    private final long highest;
    private final long starts;
    private final long next;
    private final long end;

    // The window, created when the first and so the thickest slab arrives.
    private long frame;
    private long codes;
    private int room;
    private int first; // of the padded slices in it
    private int slices;

    private DeviceRayView(
            Scene scene, Camera camera, Kernels kernels, BiFunction<Scene, DeviceMemory, DeviceFilm> film) {
        super(scene, new Rays(scene, camera));
        this.pixels = side * side;
        this.kernels = kernels;
        this.memory = new DeviceMemory(kernels);
        CoarseMap map = scene.terrain().map();
        int cells = map.columns() * map.rows() * map.layers();
        highest = memory.filled((long) cells * Character.BYTES, to -> {
            for (int cell = 0; cell < cells; cell++) {
                to.putChar((char) map.highest(cell));
            }
        });
        starts = memory.filled(3L * pixels * Float.BYTES, this::starts);
        next = memory.filled((long) pixels * Integer.BYTES, to -> inside(to, 0));
        end = memory.filled((long) pixels * Integer.BYTES, to -> inside(to, 1));
        this.film = film.apply(scene, memory);
    }

    /** Returns a view that shades the volume. */
    public static DeviceRayView shaded(Scene scene, Camera camera, Kernels kernels) {
        return new DeviceRayView(scene, camera, kernels, DeviceFilm.Shaded::new);
    }

    /** Returns a view that keeps the largest code along each ray. */
    public static DeviceRayView maximum(Scene scene, Camera camera, Kernels kernels) {
        return new DeviceRayView(scene, camera, kernels, DeviceFilm.Brightest::new);
    }

    private void starts(ByteBuffer to) {
        eachPixel((u, v) -> {
            for (int axis = 0; axis < 3; axis++) {
                to.putFloat(rays.start(axis, u, v));
            }
        });
    }

    private void inside(ByteBuffer to, int which) {
        eachPixel((u, v) -> to.putInt(rays.inside(u, v)[which]));
    }

    private interface PixelVisitor {
        void visit(int u, int v);
    }

    private void eachPixel(PixelVisitor visitor) {
        for (int v = 0; v < side; v++) {
            for (int u = 0; u < side; u++) {
                visitor.visit(u, v);
            }
        }
    }

    @Override
    public void visit(SlabPlan.Range slab, DevicePlace place) {
        through(slab.from(), slab.to(), (from, to) -> {
            int z = makeRoom(to - from, from + CoarseMap.PAD);
            long voxels = (long) header.columns() * header.rows() * (to - from);
            kernels.show(place, "decode", voxels, frame, codes, from - slab.from(), to - from, z);
        });
    }

    @Override
    int room() {
        return room;
    }

    @Override
    void open(int thickest) {
        room = Math.min(thickest, SlabWindow.MOST_NEW);
        codes = memory.allocate(heldBytes(thickest));
        frame = memory.put(DeviceFrame.of(scene, rays, room + SlabWindow.REACH));
        for (int place = 0; place < room + SlabWindow.REACH; place++) {
            background(place); // slices leave their borders as they are
        }
    }

    private void background(int z) {
        long area = (header.columns() + 2L * CoarseMap.PAD) * (header.rows() + 2L * CoarseMap.PAD);
        kernels.run("background", area, frame, codes, z);
    }

    @Override
    void pushOutside(int slice) {
        background(makeRoom(1, slice + CoarseMap.PAD));
    }

    /** Drops what is no longer needed and returns the first new slice. */
    private int makeRoom(int added, int index) {
        int kept = Math.min(SlabWindow.REACH, slices);
        first = descending() ? index : index - kept;
        slices = kept + added;
        return index;
    }

    @Override
    void march() {
        int from = first + 1;
        int to = first + slices - 2;
        if (from < to) {
            long[] all = {frame, codes, highest, starts, next, end};
            LongStream arguments = LongStream.concat(LongStream.of(all), LongStream.of(film.addresses()));
            kernels.run(
                    film.kernel(),
                    pixels,
                    LongStream.concat(arguments, LongStream.of(from, to)).toArray());
        }
    }

    @Override
    public Picture finish() {
        leave();
        return film.develop();
    }

    @Override
    public void close() {
        memory.close();
    }
}
