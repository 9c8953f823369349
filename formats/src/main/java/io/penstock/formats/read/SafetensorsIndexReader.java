// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.FormatOption;
import io.penstock.formats.MalformedFileException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The index of a model in several safetensors files, such as {@code model.safetensors.index.json}: the name of a file
 * beside it for each array. What an array is and where it lies is read from the headers of those files alone.
 */
public final class SafetensorsIndexReader implements FormatReader {

    static final String FORMAT = "safetensors index";
    private static final int MOST_SHOWN = 80; // bytes
    private static final Pattern FILE_NAME = Pattern.compile("[^/\\\\:\\p{Cntrl}]+\\.safetensors");

    @Override
    public boolean recognizes(Path path, byte[] start) {
        return path.toString().toLowerCase(Locale.ROOT).endsWith(".safetensors.index.json");
    }

    @Override
    public ArrayFile read(Path path, Set<FormatOption> permitted) throws IOException {
        Map<String, String> attributes = new LinkedHashMap<>();
        Map<String, String> files = files(path, attributes);
        List<Array> arrays = new ArrayList<>();
        Map<String, String> found = new LinkedHashMap<>();
        Map<String, String> unsupported = new LinkedHashMap<>();
        List<String> names = List.copyOf(new TreeSet<>(files.values()));
        List<ArrayFile> shards = Headers.read(names.stream()
                .<Callable<ArrayFile>>map(name -> () -> read(path, name, permitted))
                .toList());
        for (int i = 0; i < names.size(); i++) {
            String file = names.get(i);
            ArrayFile shard = shards.get(i);
            shard.unsupported().forEach((array, reason) -> {
                if (file.equals(files.getOrDefault(array, file))) {
                    unsupported.put(array, reason);
                }
            });
            for (Array array : shard.arrays()) {
                if (!file.equals(files.getOrDefault(array.name(), file))) {
                    continue; // the index names another file for it
                }
                String other = found.put(array.name(), file);
                if (other != null) {
                    throw malformed(path, "array " + array.name() + " is in " + other + " and in " + file);
                }
                arrays.add(array);
            }
        }
        Map<String, String> damaged =
                damaged(path, files, array -> found.containsKey(array) || unsupported.containsKey(array));
        return new ArrayFile(path, SafetensorsReader.FORMAT, attributes, arrays, unsupported, damaged);
    }

    /** Returns why each array is not there, for arrays of which the index names a file that does not have them. */
    private static Map<String, String> damaged(Path path, Map<String, String> files, Predicate<String> found) {
        Set<String> right =
                files.keySet().stream().filter(found).map(files::get).collect(Collectors.toSet());
        Map<String, String> damaged = new LinkedHashMap<>();
        files.forEach((array, file) -> {
            if (!found.test(array)) {
                if (!right.contains(file)) { // it is another file than the index is about
                    throw malformed(path, "array " + array + " is not in " + file);
                }
                damaged.put(array, "not there: the index names " + file + ", which does not have it");
            }
        });
        return damaged;
    }

    private static Map<String, String> files(Path path, Map<String, String> attributes) throws IOException {
        Map<String, String> files = new LinkedHashMap<>();
        byte[] json = HeaderBytes.all(path, FORMAT, SafetensorsReader.MOST_HEADER_BYTES, "the index");
        try (StrictJson index = new StrictJson(path, FORMAT, json)) {
            index.document(member -> {
                switch (member) {
                    case "metadata" -> index.objectOrNull("", member, key -> attributes.put(key, index.scalarOrSkip()));
                    case "weight_map" ->
                        index.object(
                                "",
                                member,
                                array -> files.put(array, name(index, index.string("the file of array ", array))));
                    default -> index.scalarOrSkip();
                }
            });
        }
        if (files.isEmpty()) {
            throw malformed(
                    path,
                    "weight_map names no file; it begins "
                            + new String(json, 0, Math.min(json.length, MOST_SHOWN), StandardCharsets.UTF_8));
        }
        return files;
    }

    /** Returns the name, which must lead to no other directory. */
    private static String name(StrictJson index, String name) {
        if (!FILE_NAME.matcher(name).matches()) {
            throw index.malformed("'" + name + "' must be the name of a .safetensors file in the same directory");
        }
        return name;
    }

    private static ArrayFile read(Path index, String name, Set<FormatOption> permitted) throws IOException {
        Path file = sibling(index, name);
        try {
            return new SafetensorsReader().read(file, permitted);
        } catch (NoSuchFileException e) {
            throw HeaderBytes.missing(file, index + " names it", e);
        }
    }

    /** Returns the file beside the index. A name may have characters that the system's file names cannot have. */
    private static Path sibling(Path path, String name) {
        try {
            return path.resolveSibling(name);
        } catch (InvalidPathException e) {
            throw malformed(path, "'" + name + "' cannot be the name of a file here: " + e.getReason());
        }
    }

    private static MalformedFileException malformed(Path path, String complaint) {
        return new MalformedFileException(path, FORMAT, complaint);
    }
}
