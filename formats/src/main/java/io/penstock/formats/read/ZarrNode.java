// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.MalformedFileException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The metadata document of a node of a Zarr hierarchy, an array or a group, with checked access to its members.
 *
 * @param directory the directory of the node
 * @param file the document
 * @param version 2 or 3
 */
record ZarrNode(Path directory, Path file, int version, boolean isArray, Map<String, Object> members) {

    static final String FORMAT = "Zarr";

    private static final long MOST_BYTES = 16 << 20;

    /** Returns the node in a directory, or null if it has no metadata. */
    static @Nullable ZarrNode of(Path directory) throws IOException {
        Path v3 = directory.resolve("zarr.json");
        if (Files.isRegularFile(v3)) {
            Map<String, Object> members = json(v3);
            ZarrNode node = new ZarrNode(directory, v3, 3, "array".equals(members.get("node_type")), members);
            node.expect("zarr_format", 3L);
            if (!node.isArray && !"group".equals(members.get("node_type"))) {
                throw node.malformed("node_type must be array or group, was " + members.get("node_type"));
            }
            return node;
        }
        for (String name : new String[] {".zarray", ".zgroup"}) {
            Path v2 = directory.resolve(name);
            if (Files.isRegularFile(v2)) {
                ZarrNode node = new ZarrNode(directory, v2, 2, name.equals(".zarray"), json(v2));
                node.expect("zarr_format", 2L);
                return node;
            }
        }
        return null;
    }

    private static Map<String, Object> json(Path path) throws IOException {
        byte[] json = HeaderBytes.all(path, FORMAT, MOST_BYTES, "the metadata");
        try (StrictJson document = StrictJson.withNaN(path, FORMAT, json)) {
            return document.tree();
        }
    }

    /** Returns the attributes of users. */
    Map<String, Object> attributes() throws IOException {
        Path v2 = directory.resolve(".zattrs");
        if (version == 3) {
            return members.get("attributes") == null ? Map.of() : map(members.get("attributes"), "attributes");
        }
        return Files.isRegularFile(v2) ? json(v2) : Map.of();
    }

    private void expect(String name, Object value) {
        if (!value.equals(members.get(name))) {
            throw malformed(name + " must be " + value + ", was " + members.get(name));
        }
    }

    /** Returns a member, which must be there. */
    Object member(String name) {
        Object value = members.get(name);
        if (value == null) {
            throw malformed("it must have " + name);
        }
        return value;
    }

    /** Returns a value that must be an object. */
    Map<String, Object> map(@Nullable Object value, String what) {
        if (!(value instanceof Map<?, ?> map)) {
            throw malformed(what + " must be an object, was " + value);
        }
        Map<String, Object> copy = new LinkedHashMap<>();
        map.forEach((key, member) -> copy.put(String.valueOf(key), member));
        return copy;
    }

    List<Object> list(@Nullable Object value, String what) {
        if (!(value instanceof List<?> list)) {
            throw malformed(what + " must be an array, was " + value);
        }
        return new ArrayList<>(list);
    }

    /** Returns a value that must be an array of whole numbers of at least {@code least}. */
    List<Long> numbers(@Nullable Object value, long least, String what) {
        List<Long> numbers = new ArrayList<>();
        for (Object element : list(value, what)) {
            if (!(element instanceof Long number) || number < least) {
                throw malformed(what + " must have whole numbers of at least " + least + ", had " + element);
            }
            numbers.add(number);
        }
        return numbers;
    }

    String text(@Nullable Object value, String what) {
        if (!(value instanceof String text)) {
            throw malformed(what + " must be a string, was " + value);
        }
        return text;
    }

    /**
     * Returns the name of an extension point of version 3: an object has it, or it is a string if there is nothing
     * else.
     */
    String extension(Object value, String what) {
        return value instanceof String text ? text : text(map(value, what).get("name"), "the name of " + what);
    }

    /** Returns the configuration of an extension point, empty if it has none. */
    Map<String, Object> configuration(Object value, String what) {
        Object configuration = value instanceof String ? null : map(value, what).get("configuration");
        return configuration == null ? Map.of() : map(configuration, "the configuration of " + what);
    }

    MalformedFileException malformed(String complaint) {
        return new MalformedFileException(file, FORMAT, complaint);
    }

    /** Returns the error of something that the format has, but this library does not support. */
    Unsupported unsupported(String complaint) {
        return new Unsupported(this, complaint);
    }

    /** A node is valid as far as is known, but is not supported; other nodes of its hierarchy may be. */
    static final class Unsupported extends Exception {

        private static final long serialVersionUID = 1;

        Unsupported(ZarrNode node, String complaint) {
            super(node.file + ": " + complaint);
        }

        String complaint() {
            return String.valueOf(getMessage());
        }
    }
}
