// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.ElementType;
import io.penstock.formats.Extent;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;

/**
 * Reads a header as the reference implementation writes it, in one pass over the bytes: ASCII without escapes and
 * blanks, {@code __metadata__} first, the members of an array in their order, and the arrays in the order of their
 * data. Every other header, valid or not, is left to {@link StrictJson} and the checks after it, which have all
 * complaints.
 *
 * <p>A long header is cut into parts of whole arrays, each of which is parsed by the common pool while the next ones
 * are read from the file. A cut may be wrong, inside a name; the part before it is then no list of whole arrays, and
 * the header is left to {@link StrictJson}. Not thread-safe.
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
        arrays = new ArrayList<>(bytes / Part.ARRAY_BYTES);
        searched = from + partBytes;
    }

    /** Starts to parse the parts that are complete. */
    @Override
    public void read(byte[] json, int count) {
        for (; searched <= count - CUT.length; searched++) {
            if (json[searched] == CUT[0] && Arrays.equals(json, searched, searched + CUT.length, CUT, 0, CUT.length)) {
                int comma = searched + CUT.length - 2;
                Part part = new Part(path, json, start, from, comma);
                appended = appended.thenCombine(
                        CompletableFuture.runAsync(part, executor), (before, parsed) -> append(part));
                from = comma + 1;
                searched = from + partBytes;
            }
        }
    }

    private @Nullable Void append(Part part) {
        List<Array> added = part.arrays;
        canonical &= part.canonical && (added.isEmpty() || part.dataStart == dataEnd);
        arrays.addAll(added);
        attributes.putAll(part.attributes);
        dataEnd += part.dataEnd - part.dataStart;
        return null;
    }

    /**
     * Returns the file if its header, which has been read, is written in this way, and its arrays fill
     * {@code dataBytes} bytes; else null.
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
        Part last = new Part(path, json, start, from, end - 1);
        last.run();
        try {
            appended.join();
        } catch (CompletionException e) {
            throw Exceptions.propagate(Objects.requireNonNullElse(e.getCause(), e));
        }
        append(last);
        if (!canonical || dataEnd != dataBytes) {
            return null;
        }
        try {
            return new ArrayFile(path, SafetensorsReader.FORMAT, attributes, arrays);
        } catch (IllegalArgumentException e) { // a name twice
            return null;
        }
    }

    /** Parses a part of a {@link SafetensorsHeader}: whole arrays, in one pass over the bytes. */
    private static final class Part implements Runnable {

        static final int ARRAY_BYTES = 64; // about as many describe an array

        private static final int MOST_DIGITS = 18; // of a number that fits a long whatever the digits are
        private static final String METADATA = "__metadata__";
        private static final byte[] TYPE = "{\"dtype\":".getBytes(StandardCharsets.US_ASCII);
        private static final byte[] SHAPE = ",\"shape\":[".getBytes(StandardCharsets.US_ASCII);
        private static final byte[] OFFSETS = "],\"data_offsets\":[".getBytes(StandardCharsets.US_ASCII);
        private static final byte[] END = "]}".getBytes(StandardCharsets.US_ASCII);

        private final Path path;
        private final byte[] json;
        private final long start;
        private final int to;
        private final Map<String, String> attributes = new LinkedHashMap<>();
        private final List<Array> arrays;
        private int at;
        private long dataStart; // of the first array
        private long dataEnd; // of the last array
        private ElementType type = ElementType.U8; // of the last array, as are the next three
        private List<Long> shape = List.of();
        private int describedFrom;
        private int describedTo; // 0 before the first array

        @SuppressWarnings("UnusedVariable") // so that no computation is optimized away
        private int hashes;

        private boolean canonical = true; // until something is written in another way

        /**
         * Takes the part of a header from one offset to another.
         *
         * @param start where the data start in the file
         */
        Part(Path path, byte[] json, long start, int from, int to) {
            this.path = path;
            this.json = json;
            this.start = start;
            this.to = to;
            arrays = new ArrayList<>((to - from) / ARRAY_BYTES);
            at = from;
        }

        @Override
        public void run() {
            try {
                boolean more = at < to || at > 1; // only a whole header may be empty
                while (more && canonical) {
                    boolean first = at == 1;
                    String name = string();
                    expect(':');
                    if (name.equals(METADATA)) {
                        require(first);
                        readAttributes();
                    } else {
                        arrays.add(array(name));
                    }
                    more = at < to && accept(',');
                }
                require(at == to);
                // A string keeps its hash, which the set of all names needs: here it is computed in parallel. Right
                // behind
                // the constructor of each string it took longer than the rest of the parsing of a name (Xeon, AVX-512).
                for (Array array : arrays) {
                    hashes += array.name().hashCode();
                }
            } catch (IllegalArgumentException e) { // a shape of another size
                canonical = false;
            }
        }

        private void readAttributes() {
            expect('{');
            for (boolean more = !accept('}'); more && canonical; more = more()) {
                String key = string();
                expect(':');
                require(attributes.put(key, string()) == null);
            }
        }

        /** Returns whether there is another attribute; otherwise their object has ended. */
        private boolean more() {
            boolean more = accept(',');
            if (!more) {
                expect('}');
            }
            return more;
        }

        private Array array(String name) {
            describe();
            long begin = number();
            expect(',');
            long end = number();
            expect(END);
            if (arrays.isEmpty()) {
                dataStart = begin;
            } else {
                require(begin == dataEnd);
            }
            dataEnd = end;
            return new Array(
                    name,
                    type,
                    shape,
                    ByteOrder.LITTLE_ENDIAN,
                    Array.Order.ROW_MAJOR,
                    new Extent(path, start + begin, end - begin));
        }

        /** Reads all that is before the offsets. Many arrays are described like the last one, which was parsed. */
        private void describe() {
            int end = Math.min(at + describedTo - describedFrom, json.length);
            if (describedTo > 0 && Arrays.equals(json, at, end, json, describedFrom, describedTo)) {
                at = end;
                return;
            }
            describedFrom = at;
            expect(TYPE);
            ElementType found = SafetensorsReader.TYPES.get(string());
            require(found != null);
            type = found == null ? ElementType.U8 : found;
            expect(SHAPE);
            shape = at < json.length && json[at] == ']' ? List.of() : numbers();
            expect(OFFSETS);
            describedTo = at;
        }

        private List<Long> numbers() {
            long first = number();
            if (!accept(',')) {
                return List.of(first);
            }
            long second = number();
            if (!accept(',')) {
                return List.of(first, second);
            }
            List<Long> numbers = new ArrayList<>(List.of(first, second));
            do {
                numbers.add(number());
            } while (accept(','));
            return numbers;
        }

        private String string() {
            expect('"');
            int start = at;
            int end = start;
            while (end < json.length && json[end] >= ' ' && json[end] != '"' && json[end] != '\\') {
                end++;
            }
            at = end;
            expect('"');
            return new String(json, start, end - start, StandardCharsets.ISO_8859_1);
        }

        private long number() {
            int start = at;
            int end = start;
            long number = 0;
            while (end < json.length && json[end] >= '0' && json[end] <= '9') {
                number = 10 * number + json[end] - '0';
                end++;
            }
            at = end;
            int digits = end - start;
            require(digits == 1 || digits > 1 && digits <= MOST_DIGITS && json[start] != '0');
            return number;
        }

        private void require(boolean condition) {
            if (!condition) {
                canonical = false;
            }
        }

        private boolean accept(char next) {
            boolean found = at < json.length && json[at] == next;
            at += found ? 1 : 0;
            return found;
        }

        private void expect(char next) {
            require(accept(next));
        }

        private void expect(byte[] next) {
            int end = Math.min(at + next.length, json.length);
            require(Arrays.equals(json, at, end, next, 0, next.length));
            at = end;
        }
    }
}
