// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.samples.cuda.CudaKernels;
import io.penstock.samples.picture.Picture;
import io.penstock.samples.volume.BadVolumeException;
import io.penstock.samples.volume.Composition;
import io.penstock.samples.volume.DeviceComposition;

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
        return backend.name().equals("cufile") ? new OnCuda(backend) : new OnProcessor();
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

    /** CUDA kernels, which look at slabs where they are. */
    final class OnCuda implements Composer {

        private final Backend backend;
        private final CudaKernels kernels;

        OnCuda(Backend backend) {
            this.backend = backend;
            this.kernels = CudaKernels.beside(backend);
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
