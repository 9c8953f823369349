// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Transfer;
import io.penstock.backend.gl.GlPump;
import io.penstock.backend.gl.HeadlessContext;
import java.io.EOFException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntConsumer;
import reactor.core.publisher.Mono;

/** OpenGL: fills a buffer in the application's own context, from its render loop, which never waits. */
public final class InRenderLoop {

    private InRenderLoop() {}

    /** Draws nothing, in a context without a window. */
    public static void main(String[] arguments) {
        try (HeadlessContext context = HeadlessContext.open(Options.none());
                GlPump pump = GlPump.open(Options.none())) {
            long frames = render(pump, Path.of(arguments[0]), buffer -> {});
            System.out.println(frames + " frames until the file was there, in " + context.context());
        }
    }

    /** Draws frames with 0 until the file is in a buffer of OpenGL, and one with its name. Returns how many. */
    static long render(GlPump pump, Path path, IntConsumer draw) {
        CompletableFuture<DeviceBuffer> filled = fill(pump.backend(), path).toFuture();
        try {
            long frames = 1;
            for (; !filled.isDone(); frames++) {
                pump.run(Duration.ofMillis(2)); // copies that are ready
                draw.accept(0);
            }
            draw.accept((int) filled.join().nativeHandle()); // behind the copies, in the order of the context
            return frames;
        } finally {
            var unused = filled.thenAccept(DeviceBuffer::close); // if drawing failed, when the copies have ended
        }
    }

    static Mono<DeviceBuffer> fill(Backend backend, Path path) {
        return backend.withFile(
                path,
                FileOption.READ,
                file -> backend.allocate(file.size())
                        .flatMap(buffer -> backend.submit(Transfer.read(file.all(), buffer.all()))
                                .filter(read -> read.bytes() == buffer.length())
                                .switchIfEmpty(Mono.error(() -> new EOFException(path + " became shorter")))
                                .doOnError(e -> buffer.close())
                                .thenReturn(buffer)));
    }
}
