// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The arrays of a file, or of files that belong together, as their metadata describe them.
 *
 * @param path what was opened
 * @param format the name of the format, such as {@code safetensors}
 * @param attributes what the file states of itself, as text
 * @param arrays the arrays, in the order of the file
 * @param leftOut why the file's other arrays cannot be read, by their names, such as {@code not supported: the type I4}
 */
public record ArrayFile(
        Path path, String format, Map<String, String> attributes, List<Array> arrays, Map<String, String> leftOut) {

    /** Describes a file of which all arrays can be read. */
    public ArrayFile(Path path, String format, Map<String, String> attributes, List<Array> arrays) {
        this(path, format, attributes, arrays, Map.of());
    }

    /**
     * Copies the lists.
     *
     * @throws IllegalArgumentException if two arrays have the same name, or all have more bytes than a long can hold
     */
    public ArrayFile {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(format, "format");
        attributes = Collections.unmodifiableMap(new LinkedHashMap<>(attributes));
        arrays = List.copyOf(arrays);
        Map<String, String> reasons = new LinkedHashMap<>();
        leftOut.forEach((name, reason) -> reasons.put(name, MalformedFileException.plain(reason))); // texts of the file
        leftOut = Collections.unmodifiableMap(reasons);
        Set<String> names = new HashSet<>(2 * arrays.size());
        long bytes = 0;
        for (Array array : arrays) {
            if (!names.add(array.name())) {
                throw new IllegalArgumentException("two arrays have the name " + array.name());
            }
            bytes += array.bytes();
            if (bytes < 0) {
                throw new IllegalArgumentException("its arrays have more bytes than a file can hold");
            }
        }
    }

    /** Returns the array of that name. */
    public Optional<Array> array(String name) {
        return arrays.stream().filter(array -> array.name().equals(name)).findFirst();
    }

    /** Returns the bytes of all arrays. */
    public long bytes() {
        return arrays.stream().mapToLong(Array::bytes).sum();
    }
}
