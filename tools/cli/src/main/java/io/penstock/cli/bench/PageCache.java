// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.bench;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;

/** How much of a file is in the page cache. */
public final class PageCache {

    private static final int PAGE = 4096;
    private static final int SAMPLES = 1024;
    private static final long WINDOW_BYTES = 1L << 30;

    private PageCache() {}

    /**
     * Returns the share of the first {@code bytes} of a file that is in the page cache, from 0 to 1, by {@code mincore}
     * of at most 1024 pages; empty if the system does not report it, as Linux for files that the caller may not
     * write.
     */
    public static OptionalDouble share(Path file, long bytes) {
        long pages = (bytes + PAGE - 1) / PAGE;
        long step = Math.max(1, pages / SAMPLES);
        if (pages == 0 || !System.getProperty("os.name").equals("Linux") || !Files.isWritable(file)) {
            return OptionalDouble.empty();
        }
        long sampled = 0;
        long loaded = 0;
        try (FileChannel channel = FileChannel.open(file)) {
            for (long start = 0; start < bytes; start += WINDOW_BYTES) {
                long length = Math.min(WINDOW_BYTES, bytes - start);
                MappedByteBuffer window = channel.map(FileChannel.MapMode.READ_ONLY, start, length);
                for (long at = 0; at < length; at += step * PAGE) {
                    sampled++;
                    loaded += window.slice((int) at, 1).isLoaded() ? 1 : 0;
                }
            }
        } catch (IOException | UnsupportedOperationException e) {
            return OptionalDouble.empty();
        }
        return OptionalDouble.of((double) loaded / sampled);
    }
}
