// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.samples.volume.BadVolumeException;
import io.penstock.samples.volume.Camera;
import io.penstock.samples.volume.Composition;
import io.penstock.samples.volume.DeviceComposition;
import io.penstock.samples.volume.DeviceProjection;
import io.penstock.samples.volume.DeviceRayView;
import io.penstock.samples.volume.Kernels;
import io.penstock.samples.volume.MaximumProjection;
import io.penstock.samples.volume.NiftiHeader;
import io.penstock.samples.volume.RayView;
import io.penstock.samples.volume.Scene;

/** A picture to be drawn. */
sealed interface Shot {

    /** Returns what draws it on the processor. */
    Composition onProcessor() throws BadVolumeException;

    /** Returns what draws it on a device. */
    DeviceComposition onDevice(Kernels kernels) throws BadVolumeException;

    /**
     * The largest voxels along an axis.
     *
     * @param world the direction of it: 0 from the left, 1 from the front, 2 from above
     */
    record Projection(NiftiHeader header, int world) implements Shot {

        @Override
        public Composition onProcessor() throws BadVolumeException {
            return new MaximumProjection(header, world);
        }

        @Override
        public DeviceComposition onDevice(Kernels kernels) throws BadVolumeException {
            return new DeviceProjection(header, world, kernels);
        }
    }

    /** The largest values from any angle. */
    record Maximum(Scene scene, Camera camera) implements Shot {

        @Override
        public Composition onProcessor() {
            return RayView.maximum(scene, camera);
        }

        @Override
        public DeviceComposition onDevice(Kernels kernels) {
            return DeviceRayView.maximum(scene, camera, kernels);
        }
    }

    /** Light on surfaces, from any angle. */
    record Shaded(Scene scene, Camera camera) implements Shot {

        @Override
        public Composition onProcessor() {
            return RayView.shaded(scene, camera);
        }

        @Override
        public DeviceComposition onDevice(Kernels kernels) {
            return DeviceRayView.shaded(scene, camera, kernels);
        }
    }
}
