// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ElementType;
import io.penstock.formats.Extent;
import io.penstock.formats.MalformedFileException;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An array of a Zarr hierarchy: its chunks are found by listing its directory, so that a grid that a document claims
 * costs nothing. Files that are no chunk of the grid are ignored, as by other implementations: they remain when an
 * array is made smaller.
 */
final class ZarrArray {

    private static final int MOST_DIMENSIONS = 64;
    private static final Pattern IN_KEY = Pattern.compile("c|[0-9][0-9.]*|c[.][0-9.]*"); // a folder of chunks
    private static final Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,17}"); // of a chunk

    /** Of a document of version 3. Others must be refused unless they have {@code must_understand: false}. */
    private static final Set<String> MEMBERS = Set.of(
            "zarr_format",
            "node_type",
            "shape",
            "data_type",
            "chunk_grid",
            "chunk_key_encoding",
            "fill_value",
            "codecs",
            "attributes",
            "storage_transformers",
            "dimension_names");

    private final ZarrNode node;
    private final ElementType type;
    private final List<Long> shape;
    private final List<Long> fileShape; // of the chunk, or shard, that is a file
    private final ZarrCodecs codecs;
    private final String prefix; // of the keys of chunks
    private final String separator;

    private ZarrArray(
            ZarrNode node, ElementType type, List<Long> shape, List<Long> fileShape, ZarrCodecs codecs, String[] keys) {
        this.node = node;
        this.type = type;
        this.shape = shape;
        this.fileShape = fileShape;
        this.codecs = codecs;
        prefix = keys[0];
        separator = keys[1];
    }

    static Array read(ZarrNode node, String name) throws IOException, ZarrNode.Unsupported {
        List<Long> shape = node.numbers(node.member("shape"), 0, "shape");
        if (shape.size() > MOST_DIMENSIONS) {
            throw node.malformed("shape must have at most " + MOST_DIMENSIONS + " dimensions, had " + shape.size());
        }
        ZarrArray array = node.version() == 2 ? v2(node, shape) : v3(node, shape);
        return array.array(name);
    }

    private static ZarrArray v2(ZarrNode node, List<Long> shape) throws ZarrNode.Unsupported {
        for (String name : new String[] {"compressor", "filters", "fill_value"}) {
            node.member(name); // null at least
        }
        ElementType type = ZarrTypes.v2(node);
        List<Long> chunks = chunkShape(node, node.member("chunks"), shape);
        Object separator = node.members().getOrDefault("dimension_separator", ".");
        return new ZarrArray(node, type, shape, chunks, ZarrCodecs.v2(node, shape.size()), new String[] {
            "", separator(node, separator)
        });
    }

    private static ZarrArray v3(ZarrNode node, List<Long> shape) throws ZarrNode.Unsupported {
        for (Map.Entry<String, Object> member : node.members().entrySet()) {
            boolean ignored =
                    member.getValue() instanceof Map<?, ?> map && Boolean.FALSE.equals(map.get("must_understand"));
            if (!MEMBERS.contains(member.getKey()) && !ignored) { // it may change what the chunks mean
                throw node.unsupported("the member " + member.getKey() + " is not supported");
            }
        }
        Object transformers = node.members().getOrDefault("storage_transformers", List.of());
        if (!node.list(transformers, "storage_transformers").isEmpty()) {
            throw node.unsupported("storage_transformers are not supported");
        }
        node.member("fill_value");
        ElementType type = ZarrTypes.v3(node);
        Map<String, Object> grid = node.map(node.member("chunk_grid"), "chunk_grid");
        if (!"regular".equals(grid.get("name"))) {
            throw node.unsupported("chunk_grid " + grid.get("name") + " is not supported");
        }
        Map<String, Object> regular = node.map(grid.get("configuration"), "the configuration of chunk_grid");
        List<Long> chunks = chunkShape(node, regular.get("chunk_shape"), shape);
        ZarrCodecs codecs = ZarrCodecs.v3(node, node.member("codecs"), type, shape.size());
        return new ZarrArray(node, type, shape, chunks, codecs, keys(node));
    }

    private static String[] keys(ZarrNode node) throws ZarrNode.Unsupported {
        Object encoding = node.member("chunk_key_encoding");
        String name = node.extension(encoding, "chunk_key_encoding");
        boolean isDefault = name.equals("default");
        if (!isDefault && !name.equals("v2")) {
            throw node.unsupported("chunk_key_encoding " + name + " is not supported");
        }
        Object separator = node.configuration(encoding, "chunk_key_encoding").get("separator");
        String text = separator(node, separator == null ? isDefault ? "/" : "." : separator);
        return new String[] {isDefault ? "c" : "", text};
    }

    private static String separator(ZarrNode node, Object separator) {
        if (!separator.equals("/") && !separator.equals(".")) {
            throw node.malformed("the separator of chunk keys must be / or ., was " + separator);
        }
        return String.valueOf(separator);
    }

    private static List<Long> chunkShape(ZarrNode node, @Nullable Object value, List<Long> shape) {
        List<Long> chunks = node.numbers(value, 1, "the shape of chunks");
        if (chunks.size() != shape.size()) {
            throw node.malformed("chunks of shape " + chunks + " must have the dimensions of the array, " + shape);
        }
        return chunks;
    }

    private Array array(String name) throws IOException, ZarrNode.Unsupported {
        try {
            Map<String, Object> sharding = codecs.sharding();
            ZarrShards shards = sharding == null ? null : ZarrShards.of(node, type, fileShape, sharding);
            ZarrCodecs inner = shards == null ? codecs : shards.codecs();
            List<Long> chunkShape = shards == null ? fileShape : shards.chunkShape();
            long chunkBytes = Array.bytes(type, chunkShape);
            List<Array.ChunkData> chunks = new ArrayList<>();
            for (Array.ChunkData file : files(inner.compression())) {
                List<Array.ChunkData> found = shards == null ? List.of(file) : shards.chunks(file);
                for (Array.ChunkData chunk : found) {
                    if (chunk.codecs().isEmpty() && chunk.extent().length() != chunkBytes) {
                        throw node.malformed(FileStart.explained(
                                "chunk " + chunk.position() + " in "
                                        + chunk.extent().file() + " must have " + chunkBytes + " bytes, had "
                                        + chunk.extent().length(),
                                chunk.extent().file()));
                    }
                    if (inGrid(chunk.position(), chunkShape)) {
                        chunks.add(chunk);
                    }
                }
            }
            chunks.sort(Comparator.comparing(Array.ChunkData::position, ZarrArray::compare));
            return new Array(
                    name,
                    type,
                    shape,
                    inner.byteOrder(),
                    inner.order(),
                    new Array.Data.Chunked(
                            chunkShape,
                            inner.isPermuted() ? inner.dimensions() : List.of(),
                            chunks,
                            ZarrTypes.fill(node, type, inner.byteOrder())));
        } catch (IllegalArgumentException e) { // sizes that overflow
            throw node.malformed(String.valueOf(e.getMessage()));
        }
    }

    private static int compare(List<Long> a, List<Long> b) {
        for (int i = 0; i < a.size(); i++) {
            int order = Long.compare(a.get(i), b.get(i));
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }

    private boolean inGrid(List<Long> position, List<Long> chunkShape) {
        for (int i = 0; i < position.size(); i++) {
            long extent = shape.get(i);
            if (extent == 0 || position.get(i) > (extent - 1) / chunkShape.get(i)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the files of chunks, or of shards. */
    private List<Array.ChunkData> files(List<String> compression) throws IOException {
        List<Array.ChunkData> files = new ArrayList<>();
        Path directory = node.directory();
        int depth = shape.size() + 1; // of chunks under any naming
        Files.walkFileTree(directory, Set.of(FileVisitOption.FOLLOW_LINKS), depth, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = String.valueOf(folder.getFileName());
                boolean ofChunks =
                        folder.equals(directory) || IN_KEY.matcher(name).matches();
                return ofChunks ? FileVisitResult.CONTINUE : FileVisitResult.SKIP_SUBTREE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                List<Long> position = attributes.isDirectory() ? null : chunkPosition(file);
                if (position == null) {
                    return FileVisitResult.CONTINUE;
                }
                if (!attributes.isRegularFile()) { // such as a link to nothing: a chunk that is elsewhere, not missing
                    throw new FileSystemException(file.toString(), null, "a chunk must be a regular file");
                }
                files.add(new Array.ChunkData(position, new Extent(file, 0, attributes.size()), compression));
                return FileVisitResult.CONTINUE;
            }

            /** A link to a directory that it lies in leads to no chunk. */
            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                if (failure instanceof FileSystemLoopException) {
                    return FileVisitResult.CONTINUE;
                }
                throw failure;
            }
        });
        return files;
    }

    /** Returns the position of the chunk that a file has the name of; null if it has the name of none. */
    private @Nullable List<Long> chunkPosition(Path file) throws MalformedFileException {
        String key = node.directory().relativize(file).toString().replace('\\', '/');
        List<Long> position = position(key);
        List<Long> named = position == null ? anyPosition(key) : position;
        if (named == null || !inGrid(named, fileShape)) {
            return null;
        }
        if (position == null) {
            throw node.malformed("a chunk lies at " + key + ", but by these metadata would be named " + key(named)
                    + "; dimension_separator or chunk_key_encoding differ from what its writer used");
        }
        return position;
    }

    /** Returns the name of a chunk. */
    private String key(List<Long> position) {
        Stream<String> parts = position.stream().map(String::valueOf);
        Stream<String> start = prefix.isEmpty() ? Stream.of() : Stream.of(prefix);
        String key = Stream.concat(start, parts).collect(Collectors.joining(separator));
        return key.isEmpty() ? "0" : key;
    }

    /** Returns the position of a chunk with that key under some naming of Zarr, or null if it is not one. */
    private @Nullable List<Long> anyPosition(String key) {
        if (shape.isEmpty()) {
            return key.equals("0") || key.equals("c") ? List.of() : null;
        }
        return numbers(key.startsWith("c/") || key.startsWith("c.") ? key.substring(2) : key, "[./]");
    }

    /** Returns the position of a chunk with that key, or null if it is not one. */
    private @Nullable List<Long> position(String key) {
        if (shape.isEmpty()) {
            return key.equals(prefix.isEmpty() ? "0" : prefix) ? List.of() : null;
        }
        String rest = key;
        if (!prefix.isEmpty()) {
            if (!key.startsWith(prefix + separator)) {
                return null;
            }
            rest = key.substring(prefix.length() + separator.length());
        }
        return numbers(rest, separator.equals(".") ? "\\." : "/");
    }

    /** Returns the numbers of a text, if they are as many as the array has dimensions; otherwise null. */
    private @Nullable List<Long> numbers(String text, String separators) {
        List<Long> position = new ArrayList<>();
        for (String number : text.split(separators, -1)) {
            if (!NUMBER.matcher(number).matches()) {
                return null;
            }
            position.add(Long.parseLong(number));
        }
        return position.size() == shape.size() ? position : null;
    }
}
