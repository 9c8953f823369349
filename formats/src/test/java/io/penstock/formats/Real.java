// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** The files that other libraries wrote: ORIGIN.md beside them names the libraries. */
public final class Real {

    private Real() {}

    public static Path file(String name) {
        try {
            return Path.of(Objects.requireNonNull(Real.class.getResource("/real/" + name), name)
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the lines of expected.txt: file, name, type, shape, bytes, CRC-32. */
    static List<String> expected() throws IOException {
        return Files.readAllLines(file("expected.txt"));
    }

    /** Returns the bytes of an array that has no gaps, read by the JDK. */
    static byte[] bytes(Array array) throws IOException {
        Extent extent = (Extent) array.data();
        return bytes(extent);
    }

    static byte[] bytes(ArraySource source) throws IOException {
        FileBlocks blocks = FileBlocks.of(source);
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(blocks.bytes()));
        try (FileChannel channel = FileChannel.open(blocks.file())) {
            for (int i = 0; i < blocks.count(); i++) {
                bytes.limit(bytes.position() + (int) blocks.length());
                int read = 0;
                while (bytes.hasRemaining() && read >= 0) {
                    read = channel.read(
                            bytes, blocks.offset() + i * blocks.stride() + blocks.length() - bytes.remaining());
                }
            }
        }
        return bytes.array();
    }
}
