// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.volume;

import io.penstock.samples.picture.Picture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * {@link ShadedView} on a device: the same rays through a window of the same slices, which is a ring there, so that
 * nothing is moved when slices come.
 */
public final class DeviceShading implements DeviceComposition {

    private static final int PIXELS = Picture.SIDE * Picture.SIDE;

    private final Scene scene;
    private final NiftiHeader header;
    private final Rays rays;
    private final Light light;
    private final Kernels kernels;
    private final List<Long> allocated = new ArrayList<>();
    private final long highest;
    private final long means;
    private final long opacity;
    private final long starts;
    private final long next;
    private final long end;
    private final long exposure;

    // The window, made when the first and so the thickest slab is there.
    private long frame;
    private long codes;
    private int room;
    private int first; // of the padded slices in it
    private int slices;

    public DeviceShading(Scene scene, Camera camera, Kernels kernels) {
        this.scene = scene;
        this.header = scene.header();
        this.rays = new Rays(scene, camera);
        this.light = new Light(rays);
        this.kernels = kernels;
        CoarseMap map = scene.terrain().map();
        int cells = map.columns() * map.rows() * map.layers();
        highest = filled((long) cells * Character.BYTES, to -> {
            for (int cell = 0; cell < cells; cell++) {
                to.putChar((char) map.highest(cell));
            }
        });
        means = filled((long) cells * Float.BYTES, to -> to.asFloatBuffer().put(map.means()));
        float[] table = scene.tissue().table();
        opacity = filled(
                (long) table.length * Float.BYTES, to -> to.asFloatBuffer().put(table));
        starts = filled(3L * PIXELS * Float.BYTES, this::starts);
        next = filled((long) PIXELS * Integer.BYTES, to -> inside(to, 0));
        end = filled((long) PIXELS * Integer.BYTES, to -> inside(to, 1));
        exposure = allocate(4L * PIXELS * Float.BYTES);
        kernels.run("begin", PIXELS, exposure);
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

    private static void eachPixel(PixelVisitor visitor) {
        for (int v = 0; v < Picture.SIDE; v++) {
            for (int u = 0; u < Picture.SIDE; u++) {
                visitor.visit(u, v);
            }
        }
    }

    private long allocate(long bytes) {
        long address = kernels.allocate(bytes);
        allocated.add(address);
        return address;
    }

    private long filled(long bytes, Consumer<ByteBuffer> content) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(Math.toIntExact(bytes)).order(ByteOrder.nativeOrder());
        content.accept(buffer);
        return put(buffer.clear());
    }

    private long put(ByteBuffer content) {
        long address = allocate(content.remaining());
        kernels.put(content, address);
        return address;
    }

    @Override
    public boolean descending() {
        return rays.descending();
    }

    @Override
    public long heldBytes(int slices) {
        return SlabWindow.heldBytes(header, slices);
    }

    @Override
    public void visit(SlabPlan.Range slab, DevicePlace place) {
        int count = slab.to() - slab.from();
        if (room == 0) {
            open(count);
            outside(descending() ? header.slices() : -CoarseMap.PAD);
        }
        for (int done = 0; done < count; done += room) {
            int added = Math.min(room, count - done);
            int from = descending() ? slab.to() - done - added : slab.from() + done;
            int z = makeRoom(added, from + CoarseMap.PAD);
            long voxels = (long) header.columns() * header.rows() * added;
            kernels.show(place, "decode", voxels, frame, codes, from - slab.from(), added, z);
            march();
        }
    }

    private void open(int thickest) {
        room = Math.min(thickest, SlabWindow.MOST_NEW);
        codes = allocate(heldBytes(thickest));
        frame = put(DeviceFrame.of(scene, rays, light, room + SlabWindow.REACH));
        for (int place = 0; place < room + SlabWindow.REACH; place++) {
            background(place); // slices leave their borders as they are
        }
    }

    private void background(int z) {
        long area = (header.columns() + 2L * CoarseMap.PAD) * (header.rows() + 2L * CoarseMap.PAD);
        kernels.run("background", area, frame, codes, z);
    }

    private void outside(int from) {
        for (int i = 0; i < CoarseMap.PAD; i++) {
            int slice = descending() ? from + CoarseMap.PAD - 1 - i : from + i;
            background(makeRoom(1, slice + CoarseMap.PAD));
            march();
        }
    }

    /** Drops what is no longer needed and returns the first new slice. */
    private int makeRoom(int added, int index) {
        int kept = Math.min(SlabWindow.REACH, slices);
        first = descending() ? index : index - kept;
        slices = kept + added;
        return index;
    }

    private void march() {
        int from = first + 1;
        int to = first + slices - 2;
        if (from < to) {
            kernels.run("march", PIXELS, frame, codes, highest, means, opacity, starts, next, end, exposure, from, to);
        }
    }

    @Override
    public Picture finish() {
        if (room != 0) {
            outside(descending() ? -CoarseMap.PAD : header.slices());
        }
        ByteBuffer lights = ByteBuffer.allocateDirect(4 * PIXELS * Float.BYTES).order(ByteOrder.nativeOrder());
        kernels.get(exposure, lights);
        lights.rewind();
        Exposure gathered = new Exposure();
        for (int pixel = 0; pixel < PIXELS; pixel++) {
            gathered.red[pixel] = lights.getFloat();
            gathered.green[pixel] = lights.getFloat();
            gathered.blue[pixel] = lights.getFloat();
            gathered.clear[pixel] = lights.getFloat();
        }
        return gathered.develop();
    }

    @Override
    public void close() {
        allocated.forEach(kernels::free);
        allocated.clear();
    }
}
