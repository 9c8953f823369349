// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.renderer.dx11.Painter;
import io.penstock.renderer.dx11.TextureProjection;
import io.penstock.renderer.gl.GlApplication;
import io.penstock.renderer.gl.GlKernels;
import io.penstock.renderer.gpu.GpuKernels;
import io.penstock.renderer.opencl.OpenClKernels;
import io.penstock.renderer.picture.Picture;
import io.penstock.renderer.volume.BadVolumeException;
import io.penstock.renderer.volume.Composition;
import io.penstock.renderer.volume.DeviceComposition;
import io.penstock.renderer.volume.KernelQueue;
import io.penstock.renderer.volume.ProjectionPlane;
import org.slf4j.LoggerFactory;

/**
 * Composes pictures: on the GPU that the slabs are streamed to, if there are kernels for it, or on the processor.
 *
 * <p><b>Threading:</b> any thread, one at a time.
 *
 * <p><b>Ownership:</b> it closes its backend.
 */
public interface Composer extends AutoCloseable {

    /**
     * A picture, and the pass that read its slabs.
     *
     * @param pass the pass over the volume that it was drawn from
     */
    record Drawn(VolumeReader.Pass pass, Picture picture) {}

    /**
     * Opens a backend and a composer for it.
     *
     * @param name the name of the backend
     * @throws io.penstock.BackendUnavailableException if it cannot be used
     */
    static Composer open(String name, Options options) {
        Backend backend = Backends.open(name, options);
        if (backend.name().equals("gl") && backend.capabilities().images()) {
            backend.close(); // shaders require a backend that shares with a context of the application
            return InTextures.open(options);
        }
        try {
            return of(backend);
        } catch (RuntimeException | Error e) {
            backend.close();
            throw e;
        }
    }

    private static Composer of(Backend backend) {
        return switch (backend.name()) {
            case "cufile" -> new OnDevice(backend, GpuKernels.onCuda(backend));
            case "hip" -> onHip(backend);
            case "opencl-ssg" -> new OnDevice(backend, OpenClKernels.beside(backend));
            case "dx11" -> new OnDirect3d(backend, Painter.beside(backend));
            default -> new OnProcessor(backend);
        };
    }

    private static Composer onHip(Backend backend) {
        if (GpuKernels.isOnHip()) {
            return new OnDevice(backend, GpuKernels.onHip(backend));
        }
        LoggerFactory.getLogger(Composer.class)
                .warn("no libhiprtc beside the HIP runtime to compile kernels: the processor draws");
        return new OnProcessor(backend);
    }

    /** Returns the backend that reads the slabs. */
    Backend backend();

    /**
     * Draws a picture; blocks until it is complete.
     *
     * @param listener called for each slab; what it throws ends the drawing, and is thrown
     */
    Drawn draw(VolumeReader reader, Shot shot, VolumeReader.Listener listener) throws BadVolumeException;

    @Override
    void close();

    /** The processor, which reads slabs in place if it can address them, otherwise copies. */
    record OnProcessor(Backend backend) implements Composer {

        @Override
        public Drawn draw(VolumeReader reader, Shot shot, VolumeReader.Listener listener) throws BadVolumeException {
            Composition composition = shot.onProcessor();
            return new Drawn(reader.show(composition, listener), composition.finish());
        }

        @Override
        public void close() {
            backend.close();
        }
    }

    /** Direct3D, which draws projections from a texture that slabs are read into; the processor for other pictures. */
    record OnDirect3d(Backend backend, Painter painter) implements Composer {

        @Override
        public Drawn draw(VolumeReader reader, Shot shot, VolumeReader.Listener listener) throws BadVolumeException {
            if (!(shot instanceof Shot.Projection along) || !TextureProjection.takes(along.header())) {
                return new OnProcessor(backend).draw(reader, shot, listener);
            }
            ProjectionPlane plane = ProjectionPlane.of(along.header(), along.world(), along.display());
            try (TextureProjection projection = new TextureProjection(painter, plane)) {
                return new Drawn(reader.draw(projection, listener), projection.finish());
            }
        }

        @Override
        public void close() {
            painter.close();
            backend.close();
        }
    }

    /** Kernels, which read slabs in place. */
    record OnDevice(Backend backend, KernelQueue kernels) implements Composer {

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
            backend.close();
        }
    }

    /** Shaders, which read slabs in 3D textures. */
    record InTextures(GlApplication application, GlKernels kernels) implements Composer {

        static InTextures open(Options options) {
            GlApplication application = GlApplication.open(options);
            try {
                return new InTextures(application, new GlKernels(application));
            } catch (RuntimeException | Error e) {
                application.close();
                throw e;
            }
        }

        @Override
        public Backend backend() {
            return application.backend();
        }

        @Override
        public Drawn draw(VolumeReader reader, Shot shot, VolumeReader.Listener listener) throws BadVolumeException {
            try (DeviceComposition composition = shot.onDevice(kernels)) {
                VolumeReader.Pass pass = reader.compose(composition, application, listener);
                return new Drawn(pass, composition.finish());
            }
        }

        @Override
        public void close() {
            kernels.close();
            application.close();
        }
    }
}
