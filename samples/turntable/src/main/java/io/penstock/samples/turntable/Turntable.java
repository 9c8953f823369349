// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.turntable;

import io.penstock.Backend;
import io.penstock.Options;
import io.penstock.renderer.BundledScan;
import io.penstock.renderer.Composer;
import io.penstock.renderer.Shot;
import io.penstock.renderer.View;
import io.penstock.renderer.VolumeReader;
import io.penstock.renderer.picture.Jpeg;
import io.penstock.renderer.volume.Budget;
import io.penstock.renderer.volume.Camera;
import io.penstock.renderer.volume.Display;
import io.penstock.renderer.volume.NiftiFile;
import io.penstock.renderer.volume.Scene;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Mono;

/**
 * A volume, and the device that draws it: kernels of CUDA or OpenCL, shaders of OpenGL, or the processor, by the
 * backend. Each picture streams the volume through 2 MiB of the device's memory.
 */
final class Turntable implements AutoCloseable {

    private static final long BUDGET = 2 << 20;
    private static final double ELEVATION = 15;

    private final ExecutorService thread = Executors.newSingleThreadExecutor(); // a composer draws one at a time
    private final Composer composer;
    private final NiftiFile volume;
    private final VolumeReader reader;
    private final Scene scene;

    Turntable(Composer composer, NiftiFile volume) throws IOException {
        this.composer = composer;
        this.volume = volume;
        reader = new VolumeReader(composer.backend(), volume, Budget.of(BUDGET));
        try {
            scene = reader.survey(pass -> (bytes, path) -> {});
        } catch (IOException | RuntimeException | Error e) {
            volume.close();
            throw e;
        }
    }

    /**
     * Opens the backend, and reads the volume once.
     *
     * @param path of a NIfTI file; empty for the scan that comes with the renderer
     */
    static Turntable open(String backend, String path) throws IOException {
        Composer composer = Composer.open(backend, Options.none());
        try (BundledScan bundled = new BundledScan()) {
            return new Turntable(
                    composer, NiftiFile.open(path.isEmpty() ? bundled.path() : Path.of(path), (to, done, all) -> {}));
        } catch (IOException | RuntimeException | Error e) {
            composer.close();
            throw e;
        }
    }

    Backend backend() {
        return composer.backend();
    }

    /** Draws a picture when it is subscribed to, after those before it. A cancel ends the drawing at its next slab. */
    Mono<byte[]> picture(View view, double azimuth) {
        return Mono.create(picture -> {
            AtomicBoolean cancelled = new AtomicBoolean();
            picture.onCancel(() -> cancelled.set(true));
            thread.execute(() -> {
                try {
                    picture.success(draw(view, new Camera(azimuth, ELEVATION), cancelled));
                } catch (IOException | RuntimeException | Error e) { // else the response would never end
                    if (!cancelled.get()) { // else nobody is there to be told
                        picture.error(e);
                    }
                }
            });
        });
    }

    private byte[] draw(View view, Camera camera, AtomicBoolean cancelled) throws IOException {
        Shot shot = view.turns() ? Shot.of(scene, view, camera) : Shot.along(volume.header(), view, Display.DEFAULT);
        VolumeReader.Listener ends = (bytes, path) -> {
            if (cancelled.get()) {
                throw new CancellationException();
            }
        };
        return Jpeg.of(composer.draw(reader, shot, ends).picture());
    }

    /** Waits for the pictures that were asked for. */
    @Override
    public void close() {
        try (volume) {
            CompletableFuture.runAsync(composer::close, thread).join();
        } finally {
            thread.shutdown();
        }
    }
}
