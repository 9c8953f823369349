// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import io.penstock.spi.BackendProvider;
import io.penstock.spi.OptionProvider;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The providers that could be loaded, and for the others the reasons why not.
 *
 * @param found backends by name
 * @param others the options of modules that are not backends
 * @param broken class or file name to reason
 */
record Providers(Map<String, Found> found, List<Option<?>> others, Map<String, String> broken) {

    /** More consecutive failures than this mean a loader that fails forever, not so many broken providers. */
    private static final int MOST_BROKEN = 64;

    /** ServiceLoader names the class in two ways: "Provider com.acme.X not found", and "com.acme.X not a subtype". */
    private static final Pattern PROVIDER =
            Pattern.compile(": (?:Provider )?([\\w.$]+),? (?:not|could|unable|does|has|is)");

    /** A provider whose descriptive methods have returned, so that only probing and opening it can fail later. */
    record Found(BackendProvider provider, String name, String description, int gpuOrder, List<Option<?>> options) {

        static Found of(BackendProvider provider) {
            return new Found(
                    provider,
                    provider.name().toLowerCase(Locale.ROOT),
                    provider.description(),
                    provider.gpuOrder(),
                    List.copyOf(provider.options()));
        }
    }

    static Providers load() {
        Providers providers = new Providers(new TreeMap<>(), new ArrayList<>(), new TreeMap<>());
        providers.load(BackendProvider.class, providers::add);
        providers.load(OptionProvider.class, provider -> providers.others.addAll(provider.options()));
        return providers;
    }

    private <T> void load(Class<T> service, Consumer<T> adding) {
        Set<ClassLoader> loaders = new LinkedHashSet<>();
        loaders.add(Backends.class.getClassLoader());
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        if (context != null) {
            loaders.add(context); // a plug-in's loader may see providers that this class's loader does not
        }
        for (ClassLoader loader : loaders) {
            load(ServiceLoader.load(service, loader), adding);
        }
        ModuleLayer layer = Backends.class.getModule().getLayer();
        if (layer != null && layer != ModuleLayer.boot()) {
            // A layer may have one loader per module, and this class's loader sees none of the others.
            load(ServiceLoader.load(layer, service), adding);
        }
    }

    private <T> void load(ServiceLoader<T> services, Consumer<T> adding) {
        Iterator<T> providers = services.iterator();
        for (int broke = 0; broke < MOST_BROKEN; ) {
            try {
                if (!providers.hasNext()) {
                    return;
                }
                adding.accept(providers.next());
            } catch (ServiceConfigurationError | LinkageError e) {
                broke++;
                note(e);
            }
        }
    }

    private void add(BackendProvider provider) {
        String type = provider.getClass().getName();
        try {
            Found added = Found.of(provider);
            Found before = found.putIfAbsent(added.name(), added);
            // Two loaders that see the same provider, or two copies of it, do not conflict.
            if (before != null && !before.provider().getClass().getName().equals(type)) {
                String other = before.provider().getClass().getName();
                note(type, "its name '" + added.name() + "' is also the name of " + other);
            }
        } catch (RuntimeException | LinkageError e) {
            note(type, "its name or description fails: " + e);
        }
    }

    private void note(Throwable e) {
        String message = String.valueOf(e.getMessage());
        Matcher provider = PROVIDER.matcher(message);
        String name = provider.find() ? provider.group(1) : "unknown provider";
        if (found.values().stream()
                .anyMatch(other -> other.provider().getClass().getName().equals(name))) {
            return; // a loader with its own copy of the API: its provider implements another BackendProvider
        }
        String reason = e instanceof ServiceConfigurationError ? message : e.toString();
        note(name, e.getCause() == null ? reason : reason + ": " + e.getCause());
    }

    private void note(String name, String reason) {
        String free = name;
        for (int copies = 2; broken.containsKey(free); copies++) {
            if (reason.equals(broken.get(free))) {
                return; // two loaders that see the same
            }
            free = name + " (" + copies + ")";
        }
        broken.put(free, reason);
    }
}
