// SPDX-License-Identifier: Apache-2.0
package io.penstock.discovery;

import io.penstock.spi.BackendProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;

/** Puts providers on the path of the context class loader, and of no other, for as long as a test asks. */
final class Services {

    private Services() {}

    /** Runs {@code body} where {@code directory} is on the path, and in it a services file of these lines. */
    static <T> T listing(Path directory, List<String> lines, Supplier<T> body) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try {
            Path services = Files.createDirectories(directory.resolve("META-INF/services"));
            Files.write(services.resolve(BackendProvider.class.getName()), lines);
            URL tests = Services.class.getProtectionDomain().getCodeSource().getLocation();
            URL[] path = {directory.toUri().toURL(), tests};
            try (URLClassLoader loader = new Foreign(path)) {
                thread.setContextClassLoader(loader);
                return body.get();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /**
     * Has the API from its parent, and the stand-ins all for itself, as an application server's loader of a plug-in.
     */
    private static final class Foreign extends URLClassLoader {

        Foreign(URL[] path) {
            super(path, Services.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(StandIn.class.getName())) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? findClass(name) : loaded;
            }
        }
    }
}
