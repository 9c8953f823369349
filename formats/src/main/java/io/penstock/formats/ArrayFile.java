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
 * @param unsupported why other arrays cannot be read, by their names, such as {@code not supported: the type I4}
 * @param damaged what is wrong with arrays that are not as the format demands, or not there, by their names
 */
public record ArrayFile(
        Path path,
        String format,
        Map<String, String> attributes,
        List<Array> arrays,
        Map<String, String> unsupported,
        Map<String, String> damaged) {

    /** Describes a file of which all arrays can be read. */
    public ArrayFile(Path path, String format, Map<String, String> attributes, List<Array> arrays) {
        this(path, format, attributes, arrays, Map.of(), Map.of());
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
        unsupported = plain(unsupported);
        damaged = plain(damaged);
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

    /** Copies reasons, which have texts of the file. */
    private static Map<String, String> plain(Map<String, String> reasons) {
        Map<String, String> plain = new LinkedHashMap<>();
        reasons.forEach((name, reason) -> plain.put(name, MalformedFileException.plain(reason)));
        return Collections.unmodifiableMap(plain);
    }

    /** Returns why arrays cannot be read, by their names: those that are not supported, then those that are damaged. */
    public Map<String, String> leftOut() {
        Map<String, String> leftOut = new LinkedHashMap<>(unsupported);
        leftOut.putAll(damaged);
        return Collections.unmodifiableMap(leftOut);
    }

    /**
     * Returns this, if none of its arrays is damaged.
     *
     * @throws MalformedFileException if one is
     */
    public ArrayFile whole() {
        damaged.keySet().stream().findFirst().ifPresent(name -> {
            throw damage(name, "");
        });
        return this;
    }

    /** Returns the error of a damaged array. */
    MalformedFileException damage(String name, String more) {
        return new MalformedFileException(
                path, format, "array " + name + " cannot be read: " + damaged.get(name) + more);
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
