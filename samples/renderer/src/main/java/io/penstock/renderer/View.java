// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

/** What can be drawn; the constants are what the user types. */
public enum View {
    /** Maximum intensity from the left, voxel by voxel. */
    X(0),
    /** From the front. */
    Y(1),
    /** From above. */
    Z(2),
    /** Maximum intensity from any angle. */
    MIP(View.ANY),
    /** Light on surfaces, from any angle. */
    SHADED(View.ANY);

    private static final int ANY = -1; // angle

    private final int world;

    View(int world) {
        this.world = world;
    }

    /** Returns the direction that is looked along: 0 from the left, 1 from the front, 2 from above. */
    int world() {
        return world;
    }

    /** Returns true if it is drawn from any angle, by a scene; otherwise along an axis. */
    public boolean turns() {
        return world == ANY;
    }
}
