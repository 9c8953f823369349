// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import io.penstock.spi.BackendProvider;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * Finds and opens backends.
 *
 * <p>Providers are loaded with {@link java.util.ServiceLoader}, by the class loader of this class and by the thread's
 * context class loader, on the class path and on the module path, and in the module layer of this class. A provider
 * that cannot be loaded is listed with its reason and does not affect the others.
 */
public final class Backends {

    /**
     * One provider, and whether it can be used.
     *
     * @param name the name to pass to {@code open}
     * @param description what the backend moves data to
     * @param gpuOrder its rank in {@link #openGpu()}
     * @param availability whether it can be used here; if not, why
     */
    public record Listing(String name, String description, int gpuOrder, Availability availability) {}

    private Backends() {}

    /** Opens the backend that {@link #configured()} returns. */
    public static Backend open() {
        return open(Options.none());
    }

    /** Opens the backend that {@link #configured()} returns, with the given options. */
    public static Backend open(Options options) {
        return open(options.backend(System.getProperties(), System.getenv()), options);
    }

    /**
     * Returns the name of the backend that {@link #open()} opens: what {@code penstock.backend}, {@code
     * PENSTOCK_BACKEND} or the file of {@code penstock.config} sets, in this order; {@code host} if none does.
     *
     * @throws IllegalArgumentException if that file cannot be read
     */
    public static String configured() {
        return Options.none().backend(System.getProperties(), System.getenv());
    }

    /** Opens a backend by name, with options from system properties and environment. */
    public static Backend open(String name) {
        return open(name, Options.none());
    }

    /**
     * Opens a backend by name.
     *
     * @param name a provider's name, or {@code gpu} for {@link #openGpu()}
     * @param options options set in code; they take precedence over system properties and environment
     * @throws BackendUnavailableException if it cannot be used; the message lists every provider and why not
     * @throws IllegalArgumentException for an unknown option, or a value out of range
     * @throws IllegalStateException if an older reactor-core is on the class path
     */
    public static Backend open(String name, Options options) {
        Objects.requireNonNull(name, "name");
        Providers providers = Providers.load();
        Options resolved = resolve(providers, options);
        String wanted = name.toLowerCase(Locale.ROOT);
        if (wanted.equals("gpu")) {
            return openGpu(providers, resolved);
        }
        Providers.Found found = providers.found().get(wanted);
        if (found == null) {
            throw unavailable("there is no backend '" + name + "'", providers, resolved, null);
        }
        return open(found, providers, resolved);
    }

    private static Backend open(Providers.Found found, Providers providers, Options options) {
        checkReactor(Scheduler.class);
        try {
            return found.provider().open(options);
        } catch (BackendUnavailableException e) {
            throw unavailable(
                    "backend '" + found.name() + "' cannot be used: " + e.getMessage(), providers, options, e);
        } catch (LinkageError e) {
            throw unavailable("backend '" + found.name() + "' cannot be loaded: " + e, providers, options, e);
        }
    }

    /** Refuses a Reactor of before 3.5, which another dependency brings, and which would fail only at the close. */
    static void checkReactor(Class<?> scheduler) {
        try {
            scheduler.getMethod("disposeGracefully");
        } catch (NoSuchMethodException e) {
            CodeSource source = scheduler.getProtectionDomain().getCodeSource();
            throw new IllegalStateException(
                    "reactor-core must be 3.5 or newer, was " + (source == null ? "older" : source.getLocation())
                            + "; another dependency brings it: name reactor-core, or import penstock-bom first, under"
                            + " dependencyManagement",
                    e);
        }
    }

    /**
     * Opens the best real GPU: the first provider by {@link BackendProvider#gpuOrder()} (cufile, hip, opencl-ssg, gl,
     * dx11) that is available on a hardware device. Software devices are opened only by name.
     *
     * @throws BackendUnavailableException if there is none; the message lists every provider and why not
     */
    public static Backend openGpu() {
        return openGpu(Options.none());
    }

    /** Opens the best real GPU as {@link #openGpu()} does, with the given options. */
    public static Backend openGpu(Options options) {
        Providers providers = Providers.load();
        return openGpu(providers, resolve(providers, options));
    }

    private static Backend openGpu(Providers providers, Options options) {
        List<Providers.Found> gpus = providers.found().values().stream()
                .filter(found -> found.gpuOrder() != Integer.MAX_VALUE)
                .sorted(Comparator.comparingInt(Providers.Found::gpuOrder))
                .toList();
        for (Providers.Found gpu : gpus) {
            Availability availability = probe(gpu, options);
            if (availability.available() && availability.hardware()) {
                return open(gpu, providers, options);
            }
        }
        throw unavailable("no usable GPU", providers, options, null);
    }

    /**
     * Lists every provider; for a provider that cannot be used, with the reason. Never throws because of a provider,
     * and opens no backend.
     *
     * @throws IllegalArgumentException for an unknown option, or a value out of range
     */
    public static List<Listing> list() {
        Providers providers = Providers.load();
        return list(providers, resolve(providers, Options.none()));
    }

    /** Returns the options of all providers found, sorted by name. */
    public static List<Option<?>> options() {
        return List.copyOf(known(Providers.load()).values());
    }

    private static List<Listing> list(Providers providers, Options options) {
        List<Listing> listings = new ArrayList<>();
        providers
                .found()
                .values()
                .forEach(found -> listings.add(
                        new Listing(found.name(), found.description(), found.gpuOrder(), probe(found, options))));
        providers
                .broken()
                .forEach((name, reason) -> listings.add(new Listing(
                        name,
                        "a provider that cannot be loaded",
                        Integer.MAX_VALUE,
                        Availability.absent(reason, "repair or remove its module"))));
        return listings;
    }

    private static Availability probe(Providers.Found found, Options options) {
        try {
            return Objects.requireNonNull(found.provider().probe(options), "no answer");
        } catch (RuntimeException | LinkageError e) {
            // Rule 501 is the provider's duty, but a broken one must not hide the others.
            return Availability.absent("its probe failed: " + e, "report this to the provider's authors");
        }
    }

    private static Options resolve(Providers providers, Options options) {
        return options.resolve(known(providers).values());
    }

    private static Map<String, Option<?>> known(Providers providers) {
        Map<String, Option<?>> known = new TreeMap<>();
        CommonOptions.all().forEach(option -> known.put(option.name(), option));
        providers.others().forEach(option -> known.put(option.name(), option));
        for (Providers.Found found : providers.found().values()) {
            found.options().forEach(option -> known.put(option.name(), option));
        }
        return known;
    }

    private static BackendUnavailableException unavailable(
            String what, Providers providers, Options options, @Nullable Throwable cause) {
        String all = list(providers, options).stream()
                .map(listing -> "\n  " + listing.name() + ": "
                        + (listing.availability().available() ? "available, " : "not available, ")
                        + listing.availability().reason())
                .collect(Collectors.joining());
        String list = all.isEmpty()
                ? "\n  none: no backend module is on the class path or module path, such as io.penstock:penstock-backend-host"
                : all;
        // Without a cause the wanted one is not among them.
        String others =
                cause == null ? "\n  for another, add its artifact, such as io.penstock:penstock-backend-cufile" : "";
        return new BackendUnavailableException(what + "; providers:" + list + others, Failure.NOT_STARTED, cause);
    }
}
