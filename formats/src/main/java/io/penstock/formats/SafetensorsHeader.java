// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;

/**
 * Reads a header as the reference implementation writes it, in one pass over the bytes: ASCII without escapes and blanks,
 * {@code __metadata__} first, the members of an array in their order, and the arrays in the order of their data. Every
 * other header, valid or not, is left to {@link StrictJson} and the checks after it, which have all complaints.
 *
 * <p>A long header is cut into parts of whole arrays, each of which is parsed by the common pool while the next ones are
 * read from the file. A cut may be wrong, inside a name; the part before it is then no list of whole arrays, and the
 * header is left to {@link StrictJson}. Not thread-safe.
 */
final class SafetensorsHeader implements HeaderBytes.Progress {

    private static final int PART_BYTES = 1 << 14; // on 16 processors as fast as 32 KiB, and faster than 64 KiB
    private static final byte[] CUT = "]},\"".getBytes(StandardCharsets.US_ASCII); // from one array to the next

    private final Path path;
    private final long start;
    private final int partBytes;
    private final Executor executor; // of parts
    private int from = 1; // of the next part
    private int searched; // for its end
    private CompletableFuture<Void> appended = CompletableFuture.completedFuture(null); // all parts so far

    // Changed by append only, which runs once for each part, in their order.
    private final Map<String, String> attributes = new LinkedHashMap<>();
    private final List<Array> arrays;
    private final Set<String> names;
    private long dataEnd; // of the last array
    private boolean canonical = true;

    /**
     * Starts with nothing read.
     *
     * @param bytes the length of the header, of which the file has as many
     * @param start where the data start in the file
     */
    SafetensorsHeader(Path path, int bytes, long start) {
        // A pool of one thread was no faster than this one alone (10,240 arrays, two processors).
        this(
                path,
                bytes,
                start,
                ForkJoinPool.getCommonPoolParallelism() > 1 ? PART_BYTES : bytes,
                ForkJoinPool.commonPool());
    }

    /** Starts with nothing read; parts have about that many bytes, and are parsed by an executor. */
    SafetensorsHeader(Path path, int bytes, long start, int partBytes, Executor executor) {
        this.path = path;
        this.start = start;
        this.partBytes = partBytes;
        this.executor = executor;
        arrays = new ArrayList<>(bytes / SafetensorsPart.ARRAY_BYTES);
        names = new HashSet<>(2 * bytes / SafetensorsPart.ARRAY_BYTES);
        searched = from + partBytes;
    }

    /** Starts to parse the parts that are complete. */
    @Override
    public void read(byte[] json, int count) {
        for (; searched <= count - CUT.length; searched++) {
            if (json[searched] == CUT[0] && Arrays.equals(json, searched, searched + CUT.length, CUT, 0, CUT.length)) {
                int comma = searched + CUT.length - 2;
                SafetensorsPart part = new SafetensorsPart(path, json, start, from, comma);
                appended = appended.thenCombine(
                        CompletableFuture.runAsync(part, executor), (before, parsed) -> append(part));
                from = comma + 1;
                searched = from + partBytes;
            }
        }
    }

    private @Nullable Void append(SafetensorsPart part) {
        List<Array> added = part.arrays();
        canonical &= part.isCanonical() && (added.isEmpty() || part.dataStart() == dataEnd);
        for (Array array : added) {
            canonical &= names.add(array.name());
        }
        arrays.addAll(added);
        attributes.putAll(part.attributes());
        dataEnd += part.dataEnd() - part.dataStart();
        return null;
    }

    /**
     * Returns the file if its header, which has been read, is written in this way, and its arrays fill {@code dataBytes}
     * bytes; else null.
     */
    @Nullable
    ArrayFile file(byte[] json, long dataBytes) {
        int end = json.length;
        while (end > 0 && json[end - 1] == ' ') { // up to a multiple of 8 bytes
            end--;
        }
        if (end < 2 || json[0] != '{' || json[end - 1] != '}') {
            return null;
        }
        SafetensorsPart last = new SafetensorsPart(path, json, start, from, end - 1);
        last.run();
        try {
            appended.join();
        } catch (CompletionException e) {
            throw Exceptions.propagate(Objects.requireNonNullElse(e.getCause(), e));
        }
        append(last);
        return canonical && dataEnd == dataBytes
                ? new ArrayFile(path, SafetensorsReader.FORMAT, attributes, DistinctArrays.known(arrays))
                : null;
    }
}
