// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Transfer;
import io.penstock.backend.gl.GlPump;
import io.penstock.backend.gl.HeadlessContext;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntConsumer;
import reactor.core.publisher.Mono;

/** OpenGL: fills a buffer in the application's own context, from its render loop, which never waits. */
public final class InRenderLoop {

    private static final Duration A_LITTLE = Duration.ofMillis(2);

    private InRenderLoop() {}

    /** Draws nothing, in a context without a window. */
    public static void main(String[] arguments) {
        try (HeadlessContext context = HeadlessContext.open(Options.none());
                GlPump pump = GlPump.open(Options.none())) {
            long frames = render(pump, Path.of(arguments[0]), buffer -> {});
            System.out.println(frames + " frames until the file was there, in " + context.context());
        }
    }

    /**
     * Draws frames until the file is in a buffer of OpenGL, and one with it. Returns how many.
     *
     * @param draw draws a frame with the name of the buffer, or 0
     */
    static long render(GlPump pump, Path path, IntConsumer draw) {
        CompletableFuture<DeviceBuffer> filled = fill(pump.backend(), path).toFuture();
        long frames = 1;
        for (; !filled.isDone(); frames++) {
            pump.run(A_LITTLE); // copies that are ready
            draw.accept(0);
        }
        try (DeviceBuffer buffer = filled.join()) {
            draw.accept((int) buffer.nativeHandle()); // behind the copies, in the order of the context
        }
        return frames;
    }

    private static Mono<DeviceBuffer> fill(Backend backend, Path path) {
        return backend.withFile(
                path,
                FileOption.READ,
                file -> backend.allocate(file.size())
                        .flatMap(buffer -> backend.submit(Transfer.read(file.all(), buffer.all()))
                                .doOnError(e -> buffer.close())
                                .thenReturn(buffer)));
    }
}
