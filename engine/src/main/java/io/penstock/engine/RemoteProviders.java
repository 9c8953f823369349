// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.engine.kit.remote.RemoteProvider;
import java.net.URI;
import java.nio.file.ProviderNotFoundException;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The modules that open files on other hosts, each by the schemes of its URIs. They are looked up when a backend is
 * opened: that reads jars, which a thread that opens a file may not wait for.
 */
final class RemoteProviders {

    private static @Nullable List<RemoteProvider> own; // of this class loader; guarded by the class

    private final List<RemoteProvider> here;

    private RemoteProviders(List<RemoteProvider> here) {
        this.here = here;
    }

    /** Looks them up, also by the class loader of the caller's thread. Blocks. */
    static synchronized RemoteProviders here() {
        ClassLoader loader = RemoteProviders.class.getClassLoader();
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        if (own == null) {
            own = all(loader);
        }
        List<RemoteProvider> here = new ArrayList<>(own);
        if (context != loader) {
            here.addAll(all(context));
        }
        return new RemoteProviders(List.copyOf(here));
    }

    private static List<RemoteProvider> all(@Nullable ClassLoader loader) {
        List<RemoteProvider> all = new ArrayList<>();
        try {
            ServiceLoader.load(RemoteProvider.class, loader).forEach(all::add);
        } catch (ServiceConfigurationError | LinkageError broken) {
            return all; // without those behind it: find() throws it
        }
        return all;
    }

    /** Returns the provider for a scheme in lower case; null if none was here. */
    @Nullable
    RemoteProvider known(String scheme) {
        return here.stream()
                .filter(one -> one.schemes().contains(scheme))
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns what looks the provider for a scheme up that was not here when the backend was opened: it blocks, and
     * throws a {@link ProviderNotFoundException} if there is none. The class loader of the caller's thread counts too.
     */
    static Supplier<RemoteProvider> later(URI uri, String scheme) {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        return () -> find(uri, scheme, context);
    }

    private static RemoteProvider find(URI uri, String scheme, @Nullable ClassLoader context) {
        Set<String> known = new TreeSet<>(Set.of("file"));
        for (ClassLoader loader : new ClassLoader[] {RemoteProviders.class.getClassLoader(), context}) {
            for (RemoteProvider provider : ServiceLoader.load(RemoteProvider.class, loader)) {
                if (provider.schemes().contains(scheme)) {
                    return provider;
                }
                known.addAll(provider.schemes());
            }
        }
        String host = uri.getHost() == null ? "" : " (host " + uri.getHost() + ")";
        throw new ProviderNotFoundException(
                "no module here opens " + scheme + ": files" + host + remedy(scheme) + "; those here open " + known);
    }

    private static String remedy(String scheme) {
        return switch (scheme) {
            case "http", "https", "hf" -> "; add io.penstock:penstock-remote-http";
            case "s3", "ucx" -> "; add io.penstock:penstock-remote-" + scheme;
            default -> "";
        };
    }
}
