// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;

/**
 * The options of a reader or writer.
 *
 * @param paths the files and directories
 * @param raw whether files are regions of bytes, not arrays
 * @param regionBytes the most bytes of a row; arrays are cut only if it was set
 * @param splitBytes the most bytes of a partition, unless one row has more
 * @param nameGlob which files of a directory are read; null for all
 * @param deviceMemory whether rows have their bytes in device memory
 * @param recursive whether files of subdirectories are read
 * @param maxFilesPerTrigger the most files of a micro-batch
 */
record SourceOptions(
        List<Path> paths,
        boolean raw,
        OptionalLong regionBytes,
        OptionalLong splitBytes,
        @Nullable String nameGlob,
        boolean deviceMemory,
        boolean recursive,
        int maxFilesPerTrigger) {

    private static final long RAW_REGION_BYTES = 64L << 20;
    private static final Pattern SCHEME = Pattern.compile("([A-Za-z][A-Za-z0-9+.-]+):.*");

    static SourceOptions of(CaseInsensitiveStringMap options) {
        int files = value(options, "maxFilesPerTrigger", "a whole number", Integer::valueOf)
                .orElse(Integer.MAX_VALUE);
        if (files < 1) {
            throw new IllegalArgumentException("maxFilesPerTrigger must be at least 1, was " + files);
        }
        return new SourceOptions(
                paths(options),
                flag(options, "raw"),
                bytes(options, "regionBytes"),
                bytes(options, "splitBytes"),
                value(options, "pathGlobFilter", "a pattern of file names", SourceOptions::glob)
                        .orElse(null),
                deviceMemory(options),
                flag(options, "recursiveFileLookup"),
                files);
    }

    /** Returns the value of an option, if it is set. */
    private static <T> Optional<T> value(
            CaseInsensitiveStringMap options, String name, String what, Function<String, T> parse) {
        String text = options.get(name);
        if (text == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(parse.apply(text));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(name + " must be " + what + ", was " + text, e);
        }
    }

    private static boolean flag(CaseInsensitiveStringMap options, String name) {
        return value(options, name, "true or false", text -> switch (text.toLowerCase(Locale.ROOT)) {
                    case "true" -> true;
                    case "false" -> false;
                    default -> throw new IllegalArgumentException(text);
                })
                .orElse(false);
    }

    static boolean deviceMemory(CaseInsensitiveStringMap options) {
        return flag(options, "deviceMemory");
    }

    /** Returns a pattern that the file system takes. */
    private static String glob(String text) {
        FileSystems.getDefault().getPathMatcher("glob:" + text);
        return text;
    }

    /** Returns the most bytes of a row. */
    long rowBytes() {
        return regionBytes.orElse(raw ? RAW_REGION_BYTES : Long.MAX_VALUE);
    }

    private static OptionalLong bytes(CaseInsensitiveStringMap options, String name) {
        Optional<Long> bytes =
                value(options, name, "a size of at least 1 byte, such as 64m", JavaUtils::byteStringAsBytes);
        if (bytes.isPresent() && bytes.get() < 1) {
            throw new IllegalArgumentException(name + " must be at least 1 byte, was " + options.get(name));
        }
        return bytes.isPresent() ? OptionalLong.of(bytes.get()) : OptionalLong.empty();
    }

    private static List<Path> paths(CaseInsensitiveStringMap options) {
        List<Path> paths = new ArrayList<>();
        String one = options.get("path");
        if (one != null) {
            paths.add(local(one));
        }
        String several = options.get("paths"); // Spark's own: a JSON array
        if (several != null) {
            try {
                for (String path : new ObjectMapper().readValue(several, String[].class)) {
                    paths.add(local(path));
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        if (paths.isEmpty()) {
            throw new IllegalArgumentException("a path must be given: load(path), or the option path");
        }
        return List.copyOf(paths);
    }

    /**
     * Returns the path of a text, which may begin with {@code file:}. As in all paths of Spark, a percent sign in it is
     * one.
     *
     * @throws IllegalArgumentException for another scheme
     */
    static Path local(String path) {
        if (path.startsWith("file:")) {
            return Path.of(new org.apache.hadoop.fs.Path(path).toUri().getPath())
                    .toAbsolutePath();
        }
        if (SCHEME.matcher(path).matches()) {
            throw new IllegalArgumentException(
                    "path must be in a file system that is mounted on the driver and on all executors, was " + path);
        }
        if (path.isEmpty()) { // the current directory, which nobody has named
            throw new IllegalArgumentException("path must not be empty");
        }
        return Path.of(path).toAbsolutePath();
    }
}
