// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;

/**
 * The plane of a projection: one value for each line through the volume.
 *
 * @param display how the picture is displayed
 * @param along the axis of the file that the lines run along
 */
public record ProjectionPlane(NiftiHeader header, Display display, int along, int width, int height) {

    /**
     * Describes one.
     *
     * @param world 0 to look from the left, 1 from the front, 2 from above
     * @throws BadVolumeException if the projection would be absurdly large
     */
    public static ProjectionPlane of(NiftiHeader header, int world, Display display) throws BadVolumeException {
        int along = header.orientation().fileAxis(world);
        int width = along == 0 ? header.rows() : header.columns();
        int height = along == 2 ? header.rows() : header.slices();
        MaximumProjection.check(width, height);
        return new ProjectionPlane(header, display, along, width, height);
    }

    /** Returns the picture of the largest voxel of each line. */
    public Picture picture(float[] maxima) {
        return ProjectionView.of(header, along, display, maxima);
    }
}
