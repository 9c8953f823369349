// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.engine.spi.remote.RemoteProvider;
import java.net.URI;
import java.nio.file.ProviderNotFoundException;
import java.util.Arrays;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Finds the module that opens files on other hosts, by the scheme of their URI. */
final class RemoteProviders {

    private RemoteProviders() {}

    /**
     * Returns the provider for a scheme in lower case.
     *
     * @param context the class loader of the caller's thread, whose providers count too; may be null
     * @throws ProviderNotFoundException if there is none
     */
    static RemoteProvider of(URI uri, String scheme, @Nullable ClassLoader context) {
        Set<String> known = new TreeSet<>(Set.of("file"));
        for (ClassLoader loader : Arrays.asList(RemoteProviders.class.getClassLoader(), context)) {
            for (RemoteProvider provider : ServiceLoader.load(RemoteProvider.class, loader)) {
                if (provider.schemes().contains(scheme)) {
                    return provider;
                }
                known.addAll(provider.schemes());
            }
        }
        throw new ProviderNotFoundException("no module opens " + scheme + ": files, of which " + uri.getHost()
                + " has one; modules are here for " + known);
    }
}
