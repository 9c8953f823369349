// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.samples.volume.BadVolumeException;
import io.penstock.samples.volume.Camera;
import io.penstock.samples.volume.Composition;
import io.penstock.samples.volume.DeviceComposition;
import io.penstock.samples.volume.DeviceProjection;
import io.penstock.samples.volume.DeviceShading;
import io.penstock.samples.volume.Kernels;
import io.penstock.samples.volume.MaximumProjection;
import io.penstock.samples.volume.NiftiHeader;
import io.penstock.samples.volume.Scene;
import io.penstock.samples.volume.ShadedView;
import org.jspecify.annotations.Nullable;

/**
 * A picture to be drawn.
 *
 * @param world the direction of a projection
 * @param scene what a shaded picture is of; null for a projection
 * @param camera where a shaded picture is drawn from
 */
record Shot(NiftiHeader header, int world, @Nullable Scene scene, Camera camera) {

    /** Returns what draws it on the processor. */
    Composition onProcessor() throws BadVolumeException {
        return scene == null ? new MaximumProjection(header, world) : new ShadedView(scene, camera);
    }

    /** Returns what draws it on a device. */
    DeviceComposition onDevice(Kernels kernels) throws BadVolumeException {
        return scene == null ? new DeviceProjection(header, world, kernels) : new DeviceShading(scene, camera, kernels);
    }
}
