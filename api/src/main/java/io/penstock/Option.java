// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;

/**
 * A setting. Its name is the system property; in capitals with underscores it is the environment variable.
 *
 * @param <T> the type of its values
 */
public final class Option<T> {

    /**
     * Collects the options that a class declares, so that each is named once:
     *
     * <pre>{@code
     * private static final Option.Group OPTIONS = new Option.Group();
     *
     * public static final Option<Integer> QUEUES =
     *         OPTIONS.add(Option.integer("penstock.mine.queues", 0, 0, 64, "how many I/O queues it has"));
     * }</pre>
     *
     * <p><b>Threading:</b> filled by a class initializer, read by any thread afterwards.
     */
    public static final class Group {

        private final List<Option<?>> options = new ArrayList<>();

        /** Creates a group without options. */
        public Group() {}

        /** Returns the option, which is one of this group from now on. */
        public <T> Option<T> add(Option<T> option) {
            options.add(option);
            return option;
        }

        /** Returns all options of the group, in the order of their declaration. */
        public List<Option<?>> all() {
            return List.copyOf(options);
        }
    }

    private final String name;
    private final T fallback;
    private final String range;
    private final String description;
    private final Function<String, T> parser;

    private Option(String name, T fallback, String range, String description, Function<String, T> parser) {
        if (!name.startsWith("penstock.")) {
            throw new IllegalArgumentException("an option's name must start with penstock., was " + name);
        }
        this.name = name;
        this.fallback = fallback;
        this.range = range;
        this.description = description;
        this.parser = parser;
        parse(show(fallback), "the default"); // which refuses a default out of range, and bounds in the wrong order
    }

    /** Creates an option for a whole number from {@code least} to {@code most}. */
    public static Option<Integer> integer(String name, int fallback, int least, int most, String description) {
        return new Option<>(name, fallback, least + " to " + most, description, text -> {
            int value = Integer.parseInt(text);
            checkRange(least <= value && value <= most);
            return value;
        });
    }

    /**
     * Creates an option for a number of bytes from {@code least} to {@code most}; accepts {@code 8MiB} as well as
     * digits.
     */
    public static Option<Long> bytes(String name, long fallback, long least, long most, String description) {
        return new Option<>(name, fallback, Bytes.format(least) + " to " + Bytes.format(most), description, text -> {
            long value = Bytes.parse(text);
            checkRange(least <= value && value <= most);
            return value;
        });
    }

    /**
     * Creates an option for a duration of at least {@code least}, and less than 292 years; accepts {@code 10s} and
     * {@code 250ms} as well as ISO-8601 ({@code PT10S}).
     */
    public static Option<Duration> duration(String name, Duration fallback, Duration least, String description) {
        String range =
                "a length of time" + (least.isZero() ? "" : " of at least " + show(least)) + ", such as 250ms or 10s";
        return new Option<>(name, fallback, range, description, text -> {
            Duration value = parseDuration(text);
            checkRange(value.toNanos() >= least.toNanos()); // which throws behind 292 years
            return value;
        });
    }

    /** Creates an option for true or false, in letters of any case. */
    public static Option<Boolean> flag(String name, boolean fallback, String description) {
        return new Option<>(name, fallback, "true or false", description, text -> {
            boolean value = text.equalsIgnoreCase("true");
            checkRange(value || text.equalsIgnoreCase("false"));
            return value;
        });
    }

    /** Creates an option for a text; empty means unset. */
    public static Option<String> text(String name, String fallback, String description) {
        return new Option<>(name, fallback, "a text", description, text -> text);
    }

    /**
     * Creates an option for an object of the vendor's: one of {@code words}, the first by default, or an address, which
     * {@link Long#decode} parses.
     *
     * @param type the vendor's name of its type
     */
    public static Option<String> handle(String name, List<String> words, String type, String description) {
        String range = String.join(", ", words) + ", or the address of " + type + " such as 0x7f12";
        return new Option<>(name, words.get(0), range, description, text -> {
            checkRange(words.contains(text) || Long.decode(text) > 0);
            return text;
        });
    }

    /** Creates an option for one of the constants of {@code type}, written in lower case. */
    public static <E extends Enum<E>> Option<E> choice(String name, Class<E> type, E fallback, String description) {
        String range = String.join(
                ", ", Arrays.stream(type.getEnumConstants()).map(Option::show).toList());
        return new Option<>(
                name,
                fallback,
                range,
                description,
                text -> Enum.valueOf(type, text.toUpperCase(Locale.ROOT).replace('-', '_')));
    }

    private static void checkRange(boolean inside) {
        if (!inside) {
            throw new IllegalArgumentException("out of range");
        }
    }

    private static Duration parseDuration(String text) {
        if (text.startsWith("P") || text.startsWith("p")) {
            return Duration.parse(text);
        }
        if (text.endsWith("ms")) {
            return Duration.ofMillis(Long.parseLong(text.substring(0, text.length() - 2)));
        }
        checkRange(text.endsWith("s"));
        return Duration.ofSeconds(Long.parseLong(text.substring(0, text.length() - 1)));
    }

    /** Returns the system property's name, for example {@code penstock.queue.depth}. */
    public String name() {
        return name;
    }

    /** Returns the environment variable's name, for example {@code PENSTOCK_QUEUE_DEPTH}. */
    public String variable() {
        return name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    /** Returns the default value. */
    public T fallback() {
        return fallback;
    }

    /** Returns a description of the valid values. */
    public String range() {
        return range;
    }

    /** Returns what the option is for. */
    public String description() {
        return description;
    }

    /** Returns a value as text that {@link #parse} accepts. */
    public static String show(Object value) {
        if (value instanceof Enum<?> constant) {
            return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
        if (value instanceof Duration time) {
            if (time.toNanosPart() == 0) {
                return time.toSeconds() + "s";
            }
            return time.toNanosPart() % 1_000_000 == 0 ? time.toMillis() + "ms" : time.toString();
        }
        return value instanceof Long number ? Bytes.format(number) : value.toString();
    }

    /**
     * Parses a value.
     *
     * @param source where the text was found, for the message
     * @throws IllegalArgumentException if the text is not a valid value of this option; the message names both
     */
    public T parse(String text, String source) {
        Objects.requireNonNull(text, "text");
        try {
            return parser.apply(text.strip());
        } catch (IllegalArgumentException | DateTimeParseException | ArithmeticException e) {
            throw new IllegalArgumentException(
                    source + " sets " + name + "=" + text + ", but it must be " + range + " (" + description + ")", e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
