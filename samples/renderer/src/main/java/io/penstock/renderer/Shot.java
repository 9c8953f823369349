// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import io.penstock.renderer.volume.BadVolumeException;
import io.penstock.renderer.volume.Camera;
import io.penstock.renderer.volume.Composition;
import io.penstock.renderer.volume.DeviceComposition;
import io.penstock.renderer.volume.DeviceProjection;
import io.penstock.renderer.volume.DeviceRayView;
import io.penstock.renderer.volume.Display;
import io.penstock.renderer.volume.Kernels;
import io.penstock.renderer.volume.MaximumProjection;
import io.penstock.renderer.volume.NiftiHeader;
import io.penstock.renderer.volume.RayView;
import io.penstock.renderer.volume.Scene;

/** A picture to be drawn. */
public sealed interface Shot {

    /** Returns the shot of a view along an axis. */
    static Shot along(NiftiHeader header, View view, Display display) {
        return new Projection(header, view.world(), display);
    }

    /** Returns the shot of a view from any angle. */
    static Shot of(Scene scene, View view, Camera camera) {
        return view == View.MIP ? new Maximum(scene, camera) : new Shaded(scene, camera);
    }

    /** Returns a composition of the picture by the processor. */
    Composition onProcessor() throws BadVolumeException;

    /** Returns a composition of the picture by a device; the caller closes it. */
    DeviceComposition onDevice(Kernels kernels) throws BadVolumeException;

    /**
     * The largest voxels along an axis.
     *
     * @param world its direction: 0 from the left, 1 from the front, 2 from above
     */
    record Projection(NiftiHeader header, int world, Display display) implements Shot {

        @Override
        public Composition onProcessor() throws BadVolumeException {
            return new MaximumProjection(header, world, display);
        }

        @Override
        public DeviceComposition onDevice(Kernels kernels) throws BadVolumeException {
            return new DeviceProjection(header, world, display, kernels);
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
