// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.util.Loggers;

/**
 * Values of options. Immutable.
 *
 * <p>If several sources set an option, code takes precedence over system properties ({@code penstock.*}), these over
 * environment variables ({@code PENSTOCK_*}), and these over the file that {@code penstock.config} names, a
 * {@link Properties} file in UTF-8 whose keys are names of options.
 */
public final class Options {

    private static final Options NONE = new Options(Map.of(), false);

    private static final String PREFIX = "penstock.";
    private static final String CODE = "code"; // the source of what a program sets

    /** Names that were warned about; each is warned about once, however often a backend is opened. */
    private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

    /** The backend to open, and the file of options: read before any backend is known. */
    static final String BACKEND = "penstock.backend";

    private static final String CONFIG = "penstock.config";

    /** Names that are not options of a backend; the last is of the tests that the build must not skip. */
    private static final List<String> FOREIGN = List.of(BACKEND, CONFIG, "penstock.require");

    private record Value(String text, String source) {

        @Override
        public String toString() {
            return source.equals(CODE) ? text : text + " (" + source + ")";
        }
    }

    private final Map<String, Value> values;
    private final boolean resolved;

    private Options(Map<String, Value> values, boolean resolved) {
        this.values = values;
        this.resolved = resolved;
    }

    /** Returns options with none set. */
    public static Options none() {
        return NONE;
    }

    /** Returns these options with one more set. */
    public <T> Options with(Option<T> option, T value) {
        // As text, so that a value from code is checked against the same range as any other.
        return with(option.name(), Option.show(Objects.requireNonNull(value, "value")));
    }

    /** Returns these options with one more set, by name; the text is checked when a backend is opened. */
    public Options with(String name, String value) {
        Map<String, Value> more = new LinkedHashMap<>(values);
        more.put(name, new Value(value, CODE));
        return new Options(Map.copyOf(more), false);
    }

    /**
     * Returns the value of an option.
     *
     * @throws IllegalArgumentException if the text that was set is not a valid value
     */
    public <T> T get(Option<T> option) {
        Value found = values.get(option.name());
        return found == null ? option.fallback() : option.parse(found.text, found.source);
    }

    /** Returns the source of an option's value: code, system property, environment, or default. */
    public String source(Option<?> option) {
        Value found = values.get(option.name());
        return found == null ? "default" : found.source;
    }

    /** Returns whether both set the same options to the same texts, from whatever sources. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Options options && texts().equals(options.texts());
    }

    @Override
    public int hashCode() {
        return texts().hashCode();
    }

    private Map<String, String> texts() {
        return values.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().text));
    }

    /**
     * Returns these options, completed from system properties and environment, and checked. Warns once about an ignored
     * name that looks misspelt ({@code penstock.hsot.io}). Another spelling of what code sets
     * ({@code penstock.closeTimeout}, {@code PENSTOCK_CLOSETIMEOUT}) is ignored: code has read it.
     *
     * @param known the options of all modules present
     * @throws IllegalArgumentException for a value out of range, or an unknown name, unless the name is namespaced
     *     ({@code penstock.WORD.name}) and no module present has an option of that namespace; the message names both
     */
    public Options resolve(Collection<Option<?>> known) {
        return resolved ? this : resolve(known, System.getProperties(), System.getenv());
    }

    Options resolve(Collection<Option<?>> known, Properties properties, Map<String, String> environment) {
        Resolution resolution = new Resolution(known, values.keySet());
        configFile(properties, environment).forEach(resolution::set);
        environment.forEach(resolution::variable);
        for (String name : properties.stringPropertyNames()) {
            resolution.property(name, properties.getProperty(name));
        }
        values.forEach(resolution::set);
        return new Options(Map.copyOf(resolution.all), true);
    }

    /** Returns the name of the backend to open, {@code host} if no source sets it. */
    String backend(Properties properties, Map<String, String> environment) {
        String name = outside(BACKEND, properties, environment);
        if (name == null) {
            Value found = configFile(properties, environment).get(BACKEND);
            name = found == null || found.text.isBlank() ? "host" : found.text.strip();
        }
        return name;
    }

    /** Returns a setting from property or environment; null if neither has one. */
    private static @Nullable String outside(String name, Properties properties, Map<String, String> environment) {
        String property = properties.getProperty(name);
        String text = property != null && !property.isBlank() ? property : environment.get(variable(name));
        return text == null || text.isBlank() ? null : text.strip();
    }

    private static String variable(String name) {
        return name.toUpperCase(Locale.ROOT).replace('.', '_');
    }

    /** Returns the settings of the file that {@code penstock.config} names; none if it is not set. */
    private Map<String, Value> configFile(Properties properties, Map<String, String> environment) {
        Value code = values.get(CONFIG);
        String file = code == null ? outside(CONFIG, properties, environment) : code.text;
        if (file == null) {
            return Map.of();
        }
        Properties found = new Properties();
        try (Reader text = Files.newBufferedReader(Path.of(file))) {
            found.load(text);
        } catch (IOException | IllegalArgumentException e) {
            boolean byVariable = code == null && outside(CONFIG, properties, Map.of()) == null;
            String by = byVariable ? variable(CONFIG) : CONFIG;
            throw new IllegalArgumentException(
                    "the file " + file + ", which " + by + " names, cannot be read: " + e, e);
        }
        return found.stringPropertyNames().stream()
                .collect(
                        Collectors.toMap(name -> name, name -> new Value(found.getProperty(name), "the file " + file)));
    }

    /** Returns name and value of each option that is set, and of those not set by code the source. */
    @Override
    public String toString() {
        return values.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(", ", "{", "}"));
    }

    /** Applies the sources in turn, the one with the highest precedence last, and checks each value. */
    private static final class Resolution {

        private final Map<String, Value> all = new HashMap<>();
        private final Map<String, Option<?>> byName = new HashMap<>();
        private final Map<String, String> nameOf = new HashMap<>(); // by environment variable
        private final Set<String> families = new TreeSet<>(); // first words of names and of environment variables
        private final Set<String> inCode; // options that code sets, as loose names

        Resolution(Collection<Option<?>> known, Set<String> names) {
            for (Option<?> option : known) {
                byName.put(option.name(), option);
                nameOf.put(option.variable(), option.name());
                families.add(family(option.name()));
                families.add(family(spelled(option.variable())));
            }
            inCode = names.stream()
                    .filter(byName::containsKey)
                    .map(Resolution::loose)
                    .collect(Collectors.toSet());
        }

        /** Returns the name that a variable most likely stands for; an underscore may be a dot or a hyphen. */
        private static String spelled(String variable) {
            return variable.toLowerCase(Locale.ROOT).replace('_', '.');
        }

        /** Returns the word after {@code penstock.}, up to the next dot. */
        private static String family(String name) {
            int start = PREFIX.length();
            int end = name.indexOf('.', start);
            return name.substring(start, end < 0 ? name.length() : end);
        }

        void variable(String variable, String text) {
            if (variable.startsWith("PENSTOCK_")) {
                String source = "the environment variable " + variable;
                set(nameOf.getOrDefault(variable, spelled(variable)), new Value(text, source));
            }
        }

        void property(String name, String text) {
            if (name.startsWith(PREFIX)) {
                set(name, new Value(text, "the system property"));
            }
        }

        void set(String name, Value value) {
            Option<?> option = byName.get(name);
            if (option != null) {
                option.parse(value.text, value.source);
                all.put(name, value);
            } else if (isOfAnAbsentModule(name)) {
                warnIfMisspelt(name, value.source);
            } else if (!FOREIGN.contains(name) && !inCode.contains(loose(name))) {
                throw new IllegalArgumentException(
                        value.source + " sets " + name + ", which is not an option of Penstock");
            }
        }

        /** Returns a name in small letters, without hyphens and underscores: Spring has several spellings of each. */
        private static String loose(String name) {
            return name.toLowerCase(Locale.ROOT).replace("-", "").replace("_", "");
        }

        private void warnIfMisspelt(String name, String source) {
            String family = family(name);
            String meant = Spelling.nearest(family, families);
            if (meant != null && WARNED.add(name)) {
                Loggers.getLogger(Options.class)
                        .warn(
                                "{} sets {}, which is ignored: no module here has options that start with {}; was {} meant?",
                                source,
                                name,
                                PREFIX + family,
                                PREFIX + meant);
            }
        }

        /** Such options are accepted, so that one environment serves machines with different backends. */
        private boolean isOfAnAbsentModule(String name) {
            return name.startsWith(PREFIX)
                    && name.indexOf('.', PREFIX.length()) > 0
                    && !families.contains(family(name));
        }
    }
}
