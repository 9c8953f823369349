// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Draws a volume from any angle: rays gather front to back, as the slabs arrive in that order.
 *
 * <p>A sample belongs to the slice that it lies in or above, and is taken when that slice and its neighbours are there;
 * a ray's samples have one order whatever the slabs are. So the picture is bit-identical however the volume is cut and
 * rows are divided among threads.
 */
public final class RayView extends SlicedRays implements Composition {

    private final Film film;
    private final int[] next;
    private final int[] end;
    private @Nullable SlabWindow window;

    private RayView(Scene scene, Rays rays, Film film) {
        super(scene, rays);
        this.film = film;
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
    public void visit(Slab slab) {
        through(slab.from(), slab.to(), (from, to) -> window().push(slab, from, to));
    }

    @Override
    public Picture finish() {
        leave();
        return film.develop();
    }

    @Override
    void open(int thickest) {
        window = new SlabWindow(scene.terrain(), descending(), thickest);
    }

    private SlabWindow window() {
        return Objects.requireNonNull(window);
    }

    @Override
    int room() {
        return window().room();
    }

    @Override
    void pushOutside(int slice) {
        window().pushOutside(slice);
    }

    private void aim(int v) {
        for (int u = 0; u < side; u++) {
            int[] inside = rays.inside(u, v);
            next[v * side + u] = inside[0];
            end[v * side + u] = inside[1];
        }
    }

    @Override
    void march() {
        SlabWindow here = window();
        if (here.readyFrom() < here.readyTo()) {
            CoarseMap map = scene.terrain().map();
            IntStream.range(0, side)
                    .parallel()
                    .forEach(v -> new RowMarch(map, rays, here, film).march(side, v, next, end));
        }
    }
}
