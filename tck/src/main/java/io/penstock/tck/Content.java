// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.FileRegion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** Compares the content of files and memory with the expected content. */
public final class Content {

    private Content() {}

    /** Fills a buffer with poison. */
    public static void poison(DeviceBuffer buffer) {
        ByteBuffer poison = ByteBuffer.allocateDirect((int) Math.min(Bench.WINDOW, buffer.length()));
        while (poison.hasRemaining()) {
            poison.put(Pattern.POISON);
        }
        for (long at = 0; at < buffer.length(); at += Bench.WINDOW) {
            Bench.get(buffer.upload(at, poison.rewind().limit((int)
                    Math.min(poison.capacity(), buffer.length() - at))));
        }
    }

    /** Returns bytes of a buffer, at most {@link Integer#MAX_VALUE}. */
    public static ByteBuffer bytes(BufferRegion region) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(Math.toIntExact(region.length()));
        if (bytes.hasRemaining()) {
            Bench.get(region.buffer().download(region.offset(), bytes));
        }
        return bytes;
    }

    /** Returns bytes of a file, read without the backend. */
    public static ByteBuffer bytes(Path path, long offset, long length) {
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(length));
        try (FileChannel channel = FileChannel.open(path)) {
            int count = 0;
            while (bytes.hasRemaining() && count >= 0) {
                count = channel.read(bytes, offset + bytes.position());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.flip();
    }

    /** Asserts that memory holds the content that {@link Bench#file} wrote into the region of the file. */
    public static void assertHolds(BufferRegion memory, FileRegion content) {
        assertHolds(bytes(memory), Pattern.of(content.file().path()), content.offset(), memory.length());
    }

    /** Asserts that a file holds a pattern's content in {@code [offset, offset + length)}. */
    public static void assertHolds(Path path, Pattern pattern, long offset, long length) {
        assertHolds(bytes(path, offset, length), pattern, offset, length);
    }

    /** Asserts that {@code bytes} is {@code length} bytes of a pattern's content from {@code offset} on. */
    public static void assertHolds(ByteBuffer bytes, Pattern pattern, long offset, long length) {
        assertThat((long) bytes.remaining()).as("bytes to compare").isEqualTo(length);
        assertThat(pattern.difference(bytes, offset))
                .as("first wrong one of %d bytes that belong to offset %d", length, offset)
                .isEqualTo(-1);
    }

    /** Asserts that nothing was written to memory since it was poisoned. */
    public static void assertPoison(BufferRegion memory) {
        assertAll(bytes(memory), Pattern.POISON);
    }

    /** Asserts that all remaining bytes are {@code expected}. */
    public static void assertAll(ByteBuffer bytes, byte expected) {
        int first = -1;
        for (int i = 0; i < bytes.remaining() && first < 0; i++) {
            first = bytes.get(bytes.position() + i) == expected ? -1 : i;
        }
        assertThat(first)
                .as("first of %d bytes that is not %d", bytes.remaining(), expected)
                .isEqualTo(-1);
    }
}
