// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.formats.load.Assembly;
import io.penstock.formats.read.HeaderBytes;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The JDK reads into the heap through direct memory, as much as a call asks for, which the thread keeps. */
class HeapReadsTest {

    private static final int BYTES = 24 << 20;
    private static final long KEPT = 1 << 20;

    private final byte[] content = new byte[BYTES];

    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void write() throws IOException {
        new Random(3).nextBytes(content);
        file = Files.write(folder.resolve("file"), content);
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    private interface Reading {
        byte[] read() throws IOException;
    }

    /** Reads in a thread that has kept nothing yet, and returns what it keeps. */
    private static long keptBy(Reading reading, byte[] expected) throws Exception {
        FutureTask<Long> task = new FutureTask<>(() -> {
            long before = directBytes();
            byte[] found = reading.read();
            long kept = directBytes() - before;
            assertThat(found).isEqualTo(expected);
            return kept;
        });
        new Thread(task, "reads").start();
        return task.get(1, TimeUnit.MINUTES);
    }

    @Test
    void aLongHeaderLeavesNoDirectMemoryOfItsLength() throws Exception {
        Reading header = () -> {
            try (HeaderBytes bytes = new HeaderBytes(file, "test")) {
                return bytes.bytes(BYTES, "the header");
            }
        };
        assertThat(keptBy(header, content)).isLessThan(KEPT);
    }

    @Test
    void aLongChunkLeavesNoDirectMemoryOfItsLength() throws Exception {
        Reading chunk = () -> {
            ByteBuffer target = ByteBuffer.allocate(BYTES - 2);
            try (SeekableByteChannel channel = Files.newByteChannel(file)) {
                Assembly.read(channel, target, new Extent(file, 1, BYTES - 2));
            }
            return target.array();
        };
        assertThat(keptBy(chunk, Arrays.copyOfRange(content, 1, BYTES - 1))).isLessThan(KEPT);
    }
}
