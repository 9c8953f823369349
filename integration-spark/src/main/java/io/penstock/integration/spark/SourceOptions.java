// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
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
 * @param recursive whether files of subdirectories are read
 * @param maxFilesPerTrigger the most files of a micro-batch
 */
record SourceOptions(
        List<Path> paths,
        boolean raw,
        OptionalLong regionBytes,
        OptionalLong splitBytes,
        @Nullable String nameGlob,
        boolean recursive,
        int maxFilesPerTrigger) {

    private static final long RAW_REGION_BYTES = 64L << 20;
    private static final Pattern SCHEME = Pattern.compile("([A-Za-z][A-Za-z0-9+.-]+):.*");

    static SourceOptions of(CaseInsensitiveStringMap options) {
        int files = options.getInt("maxFilesPerTrigger", Integer.MAX_VALUE);
        if (files < 1) {
            throw new IllegalArgumentException("maxFilesPerTrigger must be at least 1, was " + files);
        }
        return new SourceOptions(
                paths(options),
                options.getBoolean("raw", false),
                bytes(options, "regionBytes"),
                bytes(options, "splitBytes"),
                options.get("pathGlobFilter"),
                options.getBoolean("recursiveFileLookup", false),
                files);
    }

    /** Returns the most bytes of a row. */
    long rowBytes() {
        return regionBytes.orElse(raw ? RAW_REGION_BYTES : Long.MAX_VALUE);
    }

    private static OptionalLong bytes(CaseInsensitiveStringMap options, String name) {
        String text = options.get(name);
        if (text == null) {
            return OptionalLong.empty();
        }
        long bytes = JavaUtils.byteStringAsBytes(text);
        if (bytes < 1) {
            throw new IllegalArgumentException(name + " must be at least 1 byte, was " + text);
        }
        return OptionalLong.of(bytes);
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
     * Returns the path of a text, which may begin with {@code file:}. As in all paths of Spark, a percent sign in it is one.
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
        return Path.of(path).toAbsolutePath();
    }
}
