// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/** A file whose every word is a function of its offset, so that a block identifies where it was read from. */
final class TestFile {

    /** The bytes of a test file. */
    static final long BYTES = 1L << 30;

    /** The bytes of {@link #many} files together: of 10^4 files of a page. */
    static final int MANY_BYTES = 10_000 * 4096;

    private static final int CHUNK = 1 << 20;
    private static final ThreadLocal<ByteBuffer> CHUNKS =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(CHUNK).order(ByteOrder.LITTLE_ENDIAN));

    private TestFile() {}

    /** Creates it unless it exists; in either case its bytes are in the page cache afterwards. */
    static Path prepare(Path path) throws IOException {
        return prepare(path, BYTES);
    }

    /**
     * Creates a file of another size.
     *
     * @param bytes a multiple of 1 MiB
     */
    static Path prepare(Path path, long bytes) throws IOException {
        return prepare(path, new byte[0], bytes);
    }

    /** As above, behind a header: the bytes at {@code header.length} are the first bytes of other test files. */
    static Path prepare(Path path, byte[] header, long bytes) throws IOException {
        if (Files.exists(path) && Files.size(path) == header.length + bytes && isIntact(path, header, bytes)) {
            return path;
        }
        try (FileChannel file = FileChannel.open(
                path, StandardOpenOption.WRITE, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING)) {
            chunks(bytes, (chunk, offset) -> {
                fill(chunk, offset);
                file.write(chunk, header.length + offset);
                return true;
            });
            file.write(ByteBuffer.wrap(header), 0);
            file.force(true);
        }
        return path;
    }

    /** Creates this many files of equal length, unless they exist; together they have the bytes of one. */
    static List<Path> many(Path parent, int count) throws IOException {
        Path directory = Files.createDirectories(parent.resolve("of-" + count));
        ByteBuffer bytes = ByteBuffer.allocate(MANY_BYTES / count).order(ByteOrder.LITTLE_ENDIAN);
        List<Path> paths = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            Path path = directory.resolve("file-" + i);
            if (!Files.exists(path) || Files.size(path) != bytes.capacity()) {
                fill(bytes, (long) i * bytes.capacity());
                Files.write(path, bytes.array());
            }
            paths.add(path);
        }
        return paths;
    }

    private static boolean isIntact(Path path, byte[] header, long bytes) throws IOException {
        try (FileChannel file = FileChannel.open(path)) {
            ByteBuffer found = ByteBuffer.allocate(header.length);
            file.read(found, 0);
            if (!Arrays.equals(found.array(), header)) {
                return false;
            }
            return chunks(bytes, (chunk, offset) -> {
                file.read(chunk.clear(), header.length + offset);
                for (int at = 0; at < CHUNK; at += 4096) {
                    if (chunk.getLong(at) != word(offset + at)) {
                        return false;
                    }
                }
                return true;
            });
        }
    }

    private interface EachChunk {
        boolean isRight(ByteBuffer chunk, long offset) throws IOException;
    }

    private static boolean chunks(long bytes, EachChunk each) throws IOException {
        try {
            return LongStream.range(0, bytes / CHUNK).parallel().allMatch(number -> {
                try {
                    return each.isRight(CHUNKS.get(), number * CHUNK);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** Fills a buffer with the contents of the file at an offset, or with a pattern for a negative one. */
    static void fill(ByteBuffer chunk, long offset) {
        chunk.clear();
        for (int at = 0; at < chunk.capacity(); at += Long.BYTES) {
            chunk.putLong(at, word(offset + at));
        }
    }

    /**
     * Checks that a block holds the contents of the file at an offset.
     *
     * @param block in little-endian order
     */
    static void verify(ByteBuffer block, long offset) throws IOException {
        for (int at = 0; at < block.capacity(); at += Long.BYTES) {
            if (block.getLong(at) != word(offset + at)) {
                throw new IOException("wrong bytes at " + (offset + at) + " of the test file");
            }
        }
    }

    /** Returns the word at an offset. */
    static long word(long offset) {
        long mixed = (offset + 0x9E3779B97F4A7C15L) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
        return mixed ^ mixed >>> 31;
    }
}
