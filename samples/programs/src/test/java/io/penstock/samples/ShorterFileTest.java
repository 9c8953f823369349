// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

/** A file that ends before the buffer does is an error: what was in the memory before is no content of it. */
class ShorterFileTest {

    private static final int RECORD = 4096;

    @TempDir
    Path folder;

    private final Backend host = Backends.open("host");
    private Path file;

    @BeforeEach
    void write() throws IOException {
        file = Files.write(folder.resolve("file"), new byte[2 * RECORD]);
    }

    @AfterEach
    void close() {
        assertThat(host.counters().buffers()).isZero();
        assertThat(host.counters().files()).isZero();
        host.close();
    }

    /** Returns a backend before whose transfers the file becomes shorter. */
    static Backend shortening(Backend backend, Path file) {
        return (Backend) Proxy.newProxyInstance(
                Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (self, method, arguments) -> {
                    if (Set.of("submit", "enqueue").contains(method.getName())) {
                        Files.write(file, new byte[RECORD]);
                    }
                    try {
                        return method.invoke(backend, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    static void assertShorter(ThrowingCallable program) {
        assertThatThrownBy(program)
                .satisfies(e -> assertThat(Exceptions.unwrap(e))
                        .isInstanceOf(EOFException.class)
                        .hasMessageContaining(" shorter"));
    }

    @Test
    void inRenderLoop() {
        assertShorter(() -> InRenderLoop.fill(shortening(host, file), file).block());
    }

    @Test
    void shareMemory() {
        assertShorter(() -> ShareMemory.export(shortening(host, file), file, uri -> {}, Mono.never())
                .block());
    }

    @Test
    void copyBehindFence() {
        assertShorter(() -> CopyBehindFence.copy(shortening(host, file), file, folder.resolve("copy"))
                .block());
    }

    @Test
    void gatherBlocks() {
        assertShorter(() -> GatherBlocks.gather(host, file, 0, 2).block());
    }
}
