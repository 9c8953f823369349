// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Option;
import io.penstock.Options;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

/** Options by the application's properties, in Spring's order of precedence. */
final class EnvironmentOptions {

    private static final String BACKEND = "penstock.backend";
    private static final String CONFIG = "penstock.config";

    /** The name of an option in a message, not the name of a file. */
    private static final Pattern OPTION = Pattern.compile("(?<![\\w./-])penstock(\\.[\\w-]+)+");

    /** Sources that Penstock reads and checks by itself. */
    private static final List<String> READ_ANYWAY = List.of(
            StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME,
            StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME);

    private EnvironmentOptions() {}

    /**
     * Opens the backend that {@code penstock.backend} names, else the backend of {@link Backends#configured()}, with
     * the options that are set.
     *
     * @throws InvalidConfigurationPropertyValueException for a value out of range, a name that no option has, or a file
     *     {@code penstock.config} that cannot be read; Boot reports where it was set
     * @throws io.penstock.BackendUnavailableException if that backend cannot be used
     */
    static Backend open(ConfigurableEnvironment environment) {
        String name = environment.getProperty(BACKEND);
        Options options = of(environment, Backends.options());
        try {
            if (environment.containsProperty(DebugInTests.PROPERTY) && !isSet(CommonOptions.DEBUG, options)) {
                options = options.with(CommonOptions.DEBUG, true);
            }
            return name == null || name.isBlank() ? Backends.open(options) : Backends.open(name.strip(), options);
        } catch (IllegalArgumentException e) {
            throw refused(environment, e);
        }
    }

    private static boolean isSet(Option<?> option, Options options) {
        return !options.resolve(Backends.options()).source(option).equals("default");
    }

    /** Returns an exception that Boot reports with the origin of the property, if an option is the cause. */
    private static RuntimeException refused(ConfigurableEnvironment environment, IllegalArgumentException e) {
        String complaint = String.valueOf(e.getMessage());
        Matcher option = OPTION.matcher(complaint);
        if (!option.find()) {
            return e;
        }
        String name = complaint.contains("which " + CONFIG + " names") ? CONFIG : option.group();
        return new InvalidConfigurationPropertyValueException(
                name,
                environment.getProperty(name),
                complaint.startsWith("code sets ") ? "Penstock has no such option." : complaint + ".");
    }

    /**
     * Returns the options that are set.
     *
     * @throws InvalidConfigurationPropertyValueException for a value out of range; Boot reports where it was set
     */
    static Options of(ConfigurableEnvironment environment, List<Option<?>> known) {
        Options options = Options.none();
        Set<String> spelled = new HashSet<>();
        spelled.add(BACKEND);
        for (Option<?> option : known) {
            spelled.add(uniform(option.name()));
            String text = environment.getProperty(option.name());
            if (text != null) {
                check(option, text);
                options = options.with(option.name(), text);
            }
        }
        // Names that no option has, for Penstock to refuse or to ignore as it does elsewhere.
        for (PropertySource<?> source : environment.getPropertySources()) {
            for (String name : names(source)) {
                if (name.startsWith("penstock.") && !spelled.contains(uniform(name))) {
                    options = options.with(name, Objects.requireNonNullElse(text(source, name), ""));
                }
            }
        }
        return options;
    }

    private static void check(Option<?> option, String text) {
        try {
            option.parse(text, "the application");
        } catch (IllegalArgumentException e) {
            throw new InvalidConfigurationPropertyValueException(
                    option.name(), text, "It must be " + option.range() + " (" + option.description() + ").");
        }
    }

    private static List<String> names(PropertySource<?> source) {
        return source instanceof EnumerablePropertySource<?> list && !READ_ANYWAY.contains(source.getName())
                ? List.of(list.getPropertyNames())
                : List.of();
    }

    private static @Nullable String text(PropertySource<?> source, String name) {
        Object value = source.getProperty(name);
        return value == null ? null : value.toString();
    }

    /** Spring accepts {@code closeTimeout} and {@code close_timeout} for {@code close-timeout}. */
    private static String uniform(String name) {
        return name.toLowerCase(Locale.ROOT).replace("-", "").replace("_", "");
    }
}
