// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/**
 * The data that all frames of a volume share: where its tissue is, and how it is displayed.
 *
 * <p>The view holds the sphere around the tissue, so that a turntable neither jumps nor breathes.
 */
public final class Scene {

    private static final double MARGIN = 1.02;

    private final Terrain terrain;
    private final Display display;
    private final Tissue tissue;
    private final GreyWindow window;
    private final double[] center;
    private double radius;

    Scene(Terrain terrain) {
        this.terrain = terrain;
        this.display = Display.DEFAULT;
        this.tissue = new Tissue(terrain, display);
        this.window = GreyWindow.of(terrain.map().highestLines());
        this.center = new double[3];
        enclose();
    }

    private Scene(Scene same, Display display) {
        this.terrain = same.terrain;
        this.display = display;
        this.tissue = new Tissue(terrain, display);
        this.window = GreyWindow.of(terrain.map().highestLines()).displayed(display);
        this.center = same.center;
        this.radius = same.radius;
    }

    /** Returns this scene, displayed in another way around the same centre. */
    public Scene displayed(Display how) {
        return new Scene(this, how);
    }

    Display display() {
        return display;
    }

    NiftiHeader header() {
        return terrain.header();
    }

    Terrain terrain() {
        return terrain;
    }

    Tissue tissue() {
        return tissue;
    }

    /** Returns the greys of maxima. They are per volume, not per frame, so that a turntable does not flicker. */
    GreyWindow window() {
        return window;
    }

    /** Returns the middle of the tissue as a padded position. */
    double[] center() {
        return center;
    }

    /** Returns the radius of a sphere around all tissue, in the unit of the spacing. */
    double radius() {
        return radius;
    }

    /** Returns the extent of a side of the picture, in the unit of the spacing. */
    double view() {
        return 2 * MARGIN * radius / display.zoom();
    }

    private void enclose() {
        CoarseMap map = terrain.map();
        double[] low = {1e9, 1e9, 1e9};
        double[] high = {-1e9, -1e9, -1e9};
        eachVisible((column, row, layer) -> {
            int[] cell = {column, row, layer};
            for (int axis = 0; axis < 3; axis++) {
                low[axis] = Math.min(low[axis], cell[axis] << map.shift());
                high[axis] = Math.max(high[axis], (cell[axis] + 1) << map.shift());
            }
        });
        for (int axis = 0; axis < 3; axis++) {
            boolean nothing = high[axis] < low[axis];
            double whole = header().along(axis) + 2.0 * CoarseMap.PAD;
            center[axis] = nothing ? whole / 2 : (low[axis] + Math.min(high[axis], whole)) / 2;
            radius = Math.max(radius, nothing ? whole / 2 * header().spacing().along(axis) : 0);
        }
        eachVisible((column, row, layer) -> radius = Math.max(radius, distance(column, row, layer)));
    }

    /** Returns how far the middle of a cube is from the centre, and half a cube more. */
    private double distance(int... cell) {
        double sum = 0;
        double side = 1 << terrain.map().shift();
        for (int axis = 0; axis < 3; axis++) {
            double far = Math.abs((cell[axis] + 0.5) * side - center[axis]) + side / 2;
            sum += far
                    * far
                    * header().spacing().along(axis)
                    * header().spacing().along(axis);
        }
        return Math.sqrt(sum);
    }

    private void eachVisible(CellVisitor visitor) {
        CoarseMap map = terrain.map();
        for (int layer = 0; layer < map.layers(); layer++) {
            for (int row = 0; row < map.rows(); row++) {
                for (int column = 0; column < map.columns(); column++) {
                    if (tissue.visible(map.highest(map.index(column, row, layer)))) {
                        visitor.visit(column, row, layer);
                    }
                }
            }
        }
    }

    private interface CellVisitor {
        void visit(int column, int row, int layer);
    }
}
