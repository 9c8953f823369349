// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

import io.penstock.Backend;
import io.penstock.Options;
import io.penstock.engine.kit.PathFilter;
import io.penstock.tck.Gate;
import io.penstock.tck.TckSubject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A subject whose backend has {@link HeldCommands} in front of its queues, while the backends of other tests have none.
 */
public interface GatedSubject extends TckSubject {

    @Override
    default Backend open(Options options) {
        return gated(() -> TckSubject.super.open(options));
    }

    @Override
    default Optional<Gate> gate(Path folder) throws IOException {
        return Optional.of(HeldCommands.in(folder));
    }

    /** {@inheritDoc} The folder of the build: on a disk, where /tmp may be memory and refuse O_DIRECT. */
    @Override
    default Path folder() {
        return Path.of("target", "tck");
    }

    /**
     * Opens a backend with commands held in front of its queues: {@link HoldingPaths} is found as a service meanwhile.
     */
    static <B> B gated(Supplier<B> opening) {
        Thread thread = Thread.currentThread();
        ClassLoader usual = thread.getContextClassLoader();
        thread.setContextClassLoader(new WithFilter(usual));
        try {
            return opening.get();
        } finally {
            thread.setContextClassLoader(usual);
        }
    }

    /** Finds the filter as a service. */
    final class WithFilter extends ClassLoader {

        private static final String SERVICE = "META-INF/services/" + PathFilter.class.getName();

        WithFilter(ClassLoader parent) {
            super(parent);
        }

        private static final class Listed {
            static final URL FILE;

            static {
                try {
                    Path file = Files.createTempFile("services", ".txt");
                    file.toFile().deleteOnExit();
                    FILE = Files.writeString(file, HoldingPaths.class.getName())
                            .toUri()
                            .toURL();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }

        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            return name.equals(SERVICE)
                    ? Collections.enumeration(List.of(Listed.FILE))
                    : super.getResources(name);
        }
    }
}
