// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Draws a volume from any angle: rays gather front to back, as the slabs arrive in that order.
 *
 * <p>A sample belongs to the slice that it lies in or above, and is taken when that slice and its neighbours are there;
 * a ray's samples have one order whatever the slabs are. So the picture is bit-identical however the volume is cut and
 * rows are divided among threads.
 */
public final class RayView implements Composition {

    private final Scene scene;
    private final NiftiHeader header;
    private final Rays rays;
    private final Film film;
    private final int side;
    private final int[] next;
    private final int[] end;
    private @Nullable SlabWindow window;

    private RayView(Scene scene, Rays rays, Film film) {
        this.scene = scene;
        this.header = scene.header();
        this.rays = rays;
        this.film = film;
        this.side = scene.display().side();
        this.next = new int[side * side];
        this.end = new int[side * side];
        IntStream.range(0, side).parallel().forEach(this::aim);
    }

    /** Returns a view that shades the volume. */
    public static RayView shaded(Scene scene, Camera camera) {
        Rays rays = new Rays(scene, camera);
        return new RayView(
                scene,
                rays,
                new Lights(scene, new Light(rays), new Exposure(scene.display().side())));
    }

    /** Returns a view that keeps the largest code along each ray: maximum intensity. */
    public static RayView maximum(Scene scene, Camera camera) {
        return new RayView(scene, new Rays(scene, camera), new Maxima(scene));
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
    public void visit(Slab slab) {
        SlabWindow here = window(slab);
        int room = here.room();
        int count = slab.to() - slab.from();
        for (int done = 0; done < count; done += room) {
            int added = Math.min(room, count - done);
            int from = descending() ? slab.to() - done - added : slab.from() + done;
            here.push(slab, from, from + added);
            march(here);
        }
    }

    @Override
    public Picture finish() {
        SlabWindow here = window;
        if (here != null) {
            outside(here, descending() ? -CoarseMap.PAD : header.slices());
        }
        return film.develop();
    }

    private SlabWindow window(Slab slab) {
        SlabWindow here = window;
        if (here == null) {
            here = new SlabWindow(scene.terrain(), descending(), slab.to() - slab.from()); // the thickest comes first
            window = here;
            outside(here, descending() ? header.slices() : -CoarseMap.PAD);
        }
        return here;
    }

    private void outside(SlabWindow here, int from) {
        for (int i = 0; i < CoarseMap.PAD; i++) {
            int slice = descending() ? from + CoarseMap.PAD - 1 - i : from + i;
            here.pushOutside(slice);
            march(here);
        }
    }

    private void aim(int v) {
        for (int u = 0; u < side; u++) {
            int[] inside = rays.inside(u, v);
            next[v * side + u] = inside[0];
            end[v * side + u] = inside[1];
        }
    }

    private void march(SlabWindow here) {
        if (here.readyFrom() < here.readyTo()) {
            CoarseMap map = scene.terrain().map();
            IntStream.range(0, side)
                    .parallel()
                    .forEach(v -> new RowMarch(map, rays, here, film).march(side, v, next, end));
        }
    }
}
