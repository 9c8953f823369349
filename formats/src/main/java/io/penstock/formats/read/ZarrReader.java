// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.FormatOption;
import io.penstock.formats.MalformedFileException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Zarr, versions 2 and 3, in directories: the arrays below a group, named by their paths from it, or one array, named
 * as its directory. The levels of an OME-Zarr image are
 * arrays; the attribute {@code multiscales} names them.
 */
public final class ZarrReader implements FormatReader {

    private static final int MOST_DEPTH = 32;
    private static final int MOST_NODES = 100_000;
    private static final Set<String> DOCUMENTS = Set.of("zarr.json", ".zarray", ".zgroup");

    @Override
    public boolean recognizes(Path path, byte[] start) {
        return DOCUMENTS.contains(String.valueOf(path.getFileName()))
                || Files.isDirectory(path) && DOCUMENTS.stream().anyMatch(name -> Files.exists(path.resolve(name)));
    }

    @Override
    public ArrayFile read(Path path, Set<FormatOption> permitted) throws IOException {
        Path absolute = path.toAbsolutePath();
        Path parent = absolute.getParent();
        Path root = Files.isDirectory(absolute) || parent == null ? absolute : parent;
        ZarrNode node = ZarrNode.of(root);
        if (node == null) {
            throw new MalformedFileException(path, ZarrNode.FORMAT, "it has no metadata");
        }
        Hierarchy hierarchy = new Hierarchy();
        if (node.isArray()) {
            try {
                hierarchy.arrays.add(ZarrArray.read(node, name(root)));
            } catch (ZarrNode.Unsupported e) {
                throw MalformedFileException.unsupported(path, ZarrNode.FORMAT, e.complaint());
            }
        } else {
            hierarchy.group(node, "", 0);
        }
        hierarchy.describe(node, "");
        if (!hierarchy.folders.isEmpty()) {
            hierarchy.attributes.put("folders without metadata", String.join(", ", hierarchy.folders));
        }
        try {
            return new ArrayFile(
                    path,
                    "Zarr v" + node.version(),
                    hierarchy.attributes,
                    hierarchy.arrays,
                    hierarchy.unsupported,
                    hierarchy.damaged);
        } catch (IllegalArgumentException e) { // more bytes than a long can hold
            throw node.malformed(String.valueOf(e.getMessage()));
        }
    }

    private static String name(Path root) {
        return String.valueOf(root.normalize().getFileName()).replaceFirst("\\.zarr$", "");
    }

    /** What has been found. */
    private static final class Hierarchy {

        private final Map<String, String> attributes = new LinkedHashMap<>();
        private final List<Array> arrays = new ArrayList<>();
        private final Map<String, String> unsupported = new LinkedHashMap<>();
        private final Map<String, String> damaged = new LinkedHashMap<>();
        private final List<String> folders = new ArrayList<>(); // without metadata, as writers of OME-Zarr leave them
        private int nodes;

        private void group(ZarrNode group, String path, int depth) throws IOException {
            children(group, group.directory(), path, depth);
        }

        private void children(ZarrNode group, Path directory, String path, int depth) throws IOException {
            for (Path child : directories(directory)) {
                String name = path + child.getFileName();
                ZarrNode node;
                try {
                    node = ZarrNode.of(child);
                } catch (MalformedFileException e) {
                    damaged.put(name, String.valueOf(e.getMessage()));
                    continue;
                }
                boolean entered =
                        node != null || !Files.isSymbolicLink(child); // which may lead anywhere, or round and round
                nodes++;
                if (entered && (nodes > MOST_NODES || depth == MOST_DEPTH)) {
                    throw group.malformed(
                            "it has more than " + MOST_NODES + " nodes, or groups in more than " + MOST_DEPTH);
                }
                if (node == null) {
                    folders.add(entered ? name : name + " (a link, not entered)");
                    if (entered) {
                        children(group, child, name + "/", depth + 1);
                    }
                } else if (node.isArray()) {
                    array(node, name);
                } else {
                    describe(node, name + "/");
                    group(node, name + "/", depth + 1);
                }
            }
        }

        private void array(ZarrNode node, String name) throws IOException {
            try {
                arrays.add(ZarrArray.read(node, name));
            } catch (ZarrNode.Unsupported e) {
                unsupported.put(name, "not supported: " + e.complaint());
            } catch (MalformedFileException e) {
                damaged.put(name, String.valueOf(e.getMessage()));
            }
        }

        private static List<Path> directories(Path group) throws IOException {
            try (Stream<Path> all = Files.list(group)) {
                return all.filter(Files::isDirectory)
                        .filter(folder -> !String.valueOf(folder.getFileName()).startsWith("."))
                        .sorted()
                        .toList();
            }
        }

        /** Adds the attributes of a node. They are the user's: attributes other than OME-Zarr's are text. */
        private void describe(ZarrNode node, String path) throws IOException {
            Map<String, Object> own;
            try {
                own = node.attributes();
            } catch (MalformedFileException e) { // the arrays do not need them
                attributes.put(path + "attributes", String.valueOf(e.getMessage()));
                return;
            }
            // Since 0.5 the attributes of OME-Zarr have a place of their own.
            boolean apart = own.get("ome") instanceof Map<?, ?>;
            Map<String, Object> ome = apart ? node.map(own.get("ome"), "ome") : own;
            String levels = levels(ome.get("multiscales"), path);
            if (levels != null) {
                ome.remove("multiscales");
                attributes.put(path + "multiscales", levels);
            }
            own.forEach((key, value) -> {
                Object rest = apart && key.equals("ome") ? ome : value;
                if (!rest.equals(Map.of())) {
                    attributes.put(path + key, String.valueOf(rest));
                }
            });
        }

        /** Returns {@code scan: image/0, image/1 (z, y, x)}, for each image; null if they are no images. */
        private static @Nullable String levels(@Nullable Object multiscales, String path) {
            if (!(multiscales instanceof List<?> images)) {
                return null;
            }
            List<String> texts = new ArrayList<>();
            for (Object entry : images) {
                if (!(entry instanceof Map<?, ?> image && image.get("datasets") instanceof List<?> datasets)) {
                    return null;
                }
                List<String> levels = new ArrayList<>();
                for (Object level : datasets) {
                    if (!(level instanceof Map<?, ?> dataset && dataset.get("path") instanceof String name)) {
                        return null;
                    }
                    levels.add(path + name);
                }
                Object name = image.get("name");
                texts.add((name == null ? "" : name + ": ") + String.join(", ", levels) + axes(image.get("axes")));
            }
            return String.join("; ", texts);
        }

        private static String axes(@Nullable Object axes) {
            return axes instanceof List<?> list
                    ? list.stream()
                            .map(axis -> String.valueOf(axis instanceof Map<?, ?> map ? map.get("name") : axis))
                            .collect(Collectors.joining(", ", " (", ")"))
                    : "";
        }
    }
}
