// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.engine.kit.remote.RemoteProvider;
import java.net.URI;
import java.nio.file.ProviderNotFoundException;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Finds the module that opens files on other hosts, by the scheme of their URI. */
final class RemoteProviders {

    private static @Nullable ServiceLoader<RemoteProvider> own; // guarded by the class; keeps what it has found

    private RemoteProviders() {}

    /**
     * Returns the provider for a scheme in lower case.
     *
     * @param context the class loader of the caller's thread, whose providers count too; may be null
     * @throws ProviderNotFoundException if there is none
     */
    static RemoteProvider of(URI uri, String scheme, @Nullable ClassLoader context) {
        Set<String> known = new TreeSet<>(Set.of("file"));
        RemoteProvider provider = own(scheme, known);
        if (provider == null) {
            provider = find(ServiceLoader.load(RemoteProvider.class, context), scheme, known);
        }
        if (provider == null) {
            String where = uri.getHost() == null ? "" : ", of which " + uri.getHost() + " has one";
            throw new ProviderNotFoundException("no module opens " + scheme + ": files" + where + remedy(scheme)
                    + "; modules are here for " + known);
        }
        return provider;
    }

    private static String remedy(String scheme) {
        return switch (scheme) {
            case "http", "https" -> "; add io.penstock:penstock-remote-http";
            case "s3", "ucx" -> "; add io.penstock:penstock-remote-" + scheme;
            default -> "";
        };
    }

    /** Returns one of the providers of this class loader, which are looked up once; null if none opens the scheme. */
    private static synchronized @Nullable RemoteProvider own(String scheme, Set<String> known) {
        ServiceLoader<RemoteProvider> loaded = own;
        own = null; // after a failure of the loader, its next iteration would skip the broken provider
        if (loaded == null) {
            loaded = ServiceLoader.load(RemoteProvider.class, RemoteProviders.class.getClassLoader());
        }
        RemoteProvider provider = find(loaded, scheme, known);
        own = loaded;
        return provider;
    }

    private static @Nullable RemoteProvider find(
            ServiceLoader<RemoteProvider> providers, String scheme, Set<String> known) {
        for (RemoteProvider provider : providers) {
            if (provider.schemes().contains(scheme)) {
                return provider;
            }
            known.addAll(provider.schemes());
        }
        return null;
    }
}
