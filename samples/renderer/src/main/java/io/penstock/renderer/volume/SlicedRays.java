// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/**
 * Rays through a window of a few slices, which moves through the volume in their direction: a part of a slab, or a
 * slice of the background around the volume, is put into the window, and the rays march through what is ready.
 */
abstract class SlicedRays implements SlabOrder {

    final Scene scene;
    final NiftiHeader header;
    final Rays rays;
    final int side;
    private boolean begun;

    SlicedRays(Scene scene, Rays rays) {
        this.scene = scene;
        this.header = scene.header();
        this.rays = rays;
        this.side = scene.display().side();
    }

    @Override
    public boolean descending() {
        return rays.descending();
    }

    @Override
    public long heldBytes(int slices) {
        return SlabWindow.heldBytes(header, slices);
    }

    /** Puts slices {@code from} to {@code to} of a slab into the window. */
    interface Part {
        void push(int from, int to);
    }

    /** Opens the window; the first slab is as thick as any. */
    abstract void open(int thickest);

    /** Returns how many slices may be put into the window at a time. */
    abstract int room();

    /** Puts a slice of background into the window. */
    abstract void pushOutside(int slice);

    /** Moves the rays through the slices that have all their neighbours in the window. */
    abstract void march();

    /** Moves the rays through a slab, part by part. */
    void through(int slabFrom, int slabTo, Part part) {
        int count = slabTo - slabFrom;
        if (!begun) {
            begun = true;
            open(count);
            outside(descending() ? header.slices() : -CoarseMap.PAD);
        }
        int room = room();
        for (int done = 0; done < count; done += room) {
            int added = Math.min(room, count - done);
            int from = descending() ? slabTo - done - added : slabFrom + done;
            part.push(from, from + added);
            march();
        }
    }

    /** Moves the rays out of the volume, once every slab was visited. */
    void leave() {
        if (begun) {
            outside(descending() ? -CoarseMap.PAD : header.slices());
        }
    }

    private void outside(int from) {
        for (int i = 0; i < CoarseMap.PAD; i++) {
            pushOutside(descending() ? from + CoarseMap.PAD - 1 - i : from + i);
            march();
        }
    }
}
