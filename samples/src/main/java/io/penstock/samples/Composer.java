// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.samples.cuda.CudaKernels;
import io.penstock.samples.opencl.OpenClKernels;
import io.penstock.samples.picture.Picture;
import io.penstock.samples.volume.BadVolumeException;
import io.penstock.samples.volume.Composition;
import io.penstock.samples.volume.DeviceComposition;
import io.penstock.samples.volume.KernelQueue;

/** Who composes pictures: the GPU that the slabs are streamed to, where the samples have kernels for it, or the processor. */
interface Composer extends AutoCloseable {

    /**
     * A picture and how its slabs came.
     *
     * @param pass the look at the volume that it was drawn from
     */
    record Drawn(VolumeReader.Pass pass, Picture picture) {}

    /** Returns whoever composes for a backend. */
    static Composer of(Backend backend) {
        return switch (backend.name()) {
            case "cufile" -> new OnDevice(backend, CudaKernels.beside(backend));
            case "opencl-ssg" -> new OnDevice(backend, OpenClKernels.beside(backend));
            default -> new OnProcessor();
        };
    }

    /** Draws a picture. */
    Drawn draw(VolumeReader reader, Shot shot, VolumeReader.Listener listener) throws BadVolumeException;

    @Override
    void close();

    /** The processor, which looks at slabs where it can address them, else at copies. */
    final class OnProcessor implements Composer {

        @Override
        public Drawn draw(VolumeReader reader, Shot shot, VolumeReader.Listener listener) throws BadVolumeException {
            Composition composition = shot.onProcessor();
            return new Drawn(reader.show(composition, listener), composition.finish());
        }

        @Override
        public void close() {}
    }

    /** Kernels, which look at slabs where they are. */
    final class OnDevice implements Composer {

        private final Backend backend;
        private final KernelQueue kernels;

        OnDevice(Backend backend, KernelQueue kernels) {
            this.backend = backend;
            this.kernels = kernels;
        }

        @Override
        public Drawn draw(VolumeReader reader, Shot shot, VolumeReader.Listener listener) throws BadVolumeException {
            try (DeviceComposition composition = shot.onDevice(kernels)) {
                VolumeReader.Pass pass = reader.compose(composition, () -> kernels.fence(backend), listener);
                return new Drawn(pass, composition.finish());
            }
        }

        @Override
        public void close() {
            kernels.close();
        }
    }
}
