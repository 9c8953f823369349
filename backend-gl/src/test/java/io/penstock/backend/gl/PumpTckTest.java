// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.gl.context.ContextSource;
import io.penstock.backend.gl.options.GlPath;
import io.penstock.backend.gl.platform.EglContext;
import io.penstock.backend.gl.platform.EglPlatform;
import io.penstock.engine.testing.GatedSubject;
import io.penstock.tck.BackendRules;
import io.penstock.tck.Gate;
import io.penstock.tck.TckSubject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The rules in a context of the application's, whose thread drives it. */
class PumpTckTest {

    /** Opens each backend on a thread of its own, which pumps until the backend is closed. */
    private record Subject(GlSubject plain) implements TckSubject {

        @Override
        public Backend open(Options options) {
            CompletableFuture<Backend> opened = new CompletableFuture<>();
            Thread application = new Thread(() -> drive(options, opened), "application");
            application.setDaemon(true);
            application.start();
            try {
                return opened.join();
            } catch (CompletionException e) {
                throw e.getCause() instanceof RuntimeException known ? known : e;
            }
        }

        private static void drive(Options options, CompletableFuture<Backend> opened) {
            ContextSource context = EglContext.on(
                    EglPlatform.find(Options.none().resolve(Backends.options())).display());
            context.begin();
            try (GlPump pump = GatedSubject.gated(() -> GlPump.open(options))) {
                opened.complete(pump.backend());
                pump.runUntilClosed();
            } catch (RuntimeException e) {
                opened.completeExceptionally(e);
            }
            context.end();
        }

        @Override
        public String backend() {
            return plain.backend();
        }

        @Override
        public Options options() {
            return plain.options();
        }

        @Override
        public TransferPath path() {
            return plain.path();
        }

        @Override
        public Path folder() {
            return plain.folder();
        }

        @Override
        public boolean wrapsHostMemory() {
            return plain.wrapsHostMemory();
        }

        @Override
        public Optional<Gate> gate(Path folder) throws IOException {
            return plain.gate(folder);
        }

        @Override
        public Map<String, Long> live() {
            return plain.live();
        }
    }

    /** Straight into mapped buffers. */
    @Nested
    @Tag("variant")
    class Host implements BackendRules {
        @Override
        public TckSubject subject() {
            return new Subject(GlSubject.of(GlPath.HOST, TransferPath.HOST));
        }
    }

    /** Through mapped staging buffers. */
    @Nested
    @Tag("variant")
    class Staged implements BackendRules {
        @Override
        public TckSubject subject() {
            return new Subject(GlSubject.of(GlPath.STAGED, TransferPath.STAGED));
        }
    }
}
