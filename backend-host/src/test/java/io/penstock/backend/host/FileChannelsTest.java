// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files as channels of the JDK, held against the JDK's own. */
class FileChannelsTest {

    private static final int SIZE = 1_000_001;

    @TempDir
    Path folder;

    private Backend backend;
    private StorageFile file;
    private byte[] bytes;

    @BeforeEach
    void open() throws Exception {
        backend = Backends.open("host");
        bytes = new byte[SIZE];
        new Random(1).nextBytes(bytes);
        Path path = Files.write(folder.resolve("data"), bytes);
        file = backend.blocking().openFile(path, FileOption.READ, FileOption.WRITE);
    }

    @AfterEach
    void close() {
        file.close();
        assertThat(backend.counters().buffers()).isZero();
        backend.close();
    }

    @Test
    void aStreamHasTheBytesOfTheFile() throws Exception {
        try (SeekableByteChannel channel = backend.blocking().channel(file);
                InputStream in = Channels.newInputStream(channel)) {
            assertThat(in.readAllBytes()).isEqualTo(bytes);
        }
        assertThat(file.size()).as("it stays open").isEqualTo(SIZE);
    }

    /** The same thousand operations on a channel of the JDK. */
    @Test
    void itBehavesAsAChannelOfTheJdk() throws Exception {
        Path twin = Files.write(folder.resolve("twin"), bytes);
        Random random = new Random(2);
        try (SeekableByteChannel ours = backend.blocking().channel(file);
                SeekableByteChannel theirs =
                        FileChannel.open(twin, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (int i = 0; i < 1000; i++) {
                int length = random.nextInt(3000);
                switch (random.nextInt(4)) {
                    case 0 -> {
                        ByteBuffer read = ByteBuffer.allocate(length).position(length / 3);
                        ByteBuffer expected = ByteBuffer.allocate(length).position(length / 3);
                        assertThat(ours.read(read)).isEqualTo(theirs.read(expected));
                        assertThat(read.position()).isEqualTo(expected.position());
                        assertThat(read.array()).isEqualTo(expected.array());
                    }
                    case 1 -> {
                        byte[] more = new byte[length];
                        random.nextBytes(more);
                        ByteBuffer source = ByteBuffer.wrap(more);
                        assertThat(ours.write(source)).isEqualTo(theirs.write(ByteBuffer.wrap(more)));
                        assertThat(source.hasRemaining()).isFalse();
                    }
                    case 2 -> {
                        long position = random.nextInt(SIZE + 5000);
                        ours.position(position);
                        theirs.position(position);
                    }
                    default -> {
                        int size = SIZE - random.nextInt(3000);
                        ours.truncate(size);
                        theirs.truncate(size);
                    }
                }
                assertThat(ours.position()).isEqualTo(theirs.position());
                assertThat(ours.size()).isEqualTo(theirs.size());
            }
        }
        assertThat(Files.readAllBytes(file.path())).isEqualTo(Files.readAllBytes(twin));
    }

    @Test
    void aWriteMayBeLargerThanItsMemory() throws Exception {
        byte[] other = new byte[SIZE];
        new Random(3).nextBytes(other);
        try (SeekableByteChannel channel = backend.blocking().channel(file)) {
            assertThat(channel.position(7).write(ByteBuffer.wrap(other))).isEqualTo(SIZE);
            assertThat(channel.size()).isEqualTo(SIZE + 7);
        }
        try (RandomAccessFile read = new RandomAccessFile(file.path().toFile(), "r")) {
            byte[] found = new byte[SIZE];
            read.seek(7);
            read.readFully(found);
            assertThat(found).isEqualTo(other);
        }
    }

    @Test
    void aClosedChannelAndAnInterruptAreTold() throws Exception {
        SeekableByteChannel channel = backend.blocking().channel(file);
        boolean told = false;
        for (int i = 0; i < 1000 && !told; i++) { // a read that ends before the thread waits for it succeeds
            Thread.currentThread().interrupt();
            try {
                assertThat(channel.read(ByteBuffer.allocate(10))).isEqualTo(10);
            } catch (InterruptedIOException e) {
                told = true;
            }
            assertThat(Thread.interrupted()).as("the interrupt stays set").isTrue();
        }
        assertThat(told).isTrue();
        assertThat(channel.read(ByteBuffer.allocate(10))).isEqualTo(10);
        channel.close();
        assertThat(channel.isOpen()).isFalse();
        assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(10))).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void anAsynchronousChannelReadsAndWrites() throws Exception {
        AsynchronousFileChannel channel = backend.blocking().asynchronousChannel(file);
        List<Future<Integer>> reads = new ArrayList<>();
        byte[] found = new byte[SIZE];
        for (int at = 0; at < SIZE; at += 100_000) {
            ByteBuffer part = ByteBuffer.wrap(found, at, Math.min(100_000, SIZE - at));
            reads.add(channel.read(part, at));
        }
        int sum = 0;
        for (Future<Integer> read : reads) {
            sum += read.get();
        }
        assertThat(sum).isEqualTo(SIZE);
        assertThat(found).isEqualTo(bytes);
        assertThat(channel.read(ByteBuffer.allocate(10), SIZE).get()).isEqualTo(-1);
        ByteBuffer last = ByteBuffer.allocate(10);
        assertThat(channel.read(last, SIZE - 3).get()).isEqualTo(3);
        assertThat(last.position()).isEqualTo(3);
        CompletableFuture<String> written = new CompletableFuture<>();
        channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), SIZE, "attached", new CompletionHandler<>() {
            @Override
            public void completed(Integer count, String attachment) {
                written.complete(attachment + " " + count);
            }

            @Override
            public void failed(Throwable failure, String attachment) {
                written.completeExceptionally(failure);
            }
        });
        assertThat(written.get()).isEqualTo("attached 3");
        assertThat(callsOfAHandlerThatThrows(channel)).containsExactly("completed");
        channel.force(true);
        assertThat(channel.size()).isEqualTo(SIZE + 3);
        assertThat(channel.truncate(SIZE).size()).isEqualTo(SIZE);
        assertThatThrownBy(channel::tryLock).isInstanceOf(UnsupportedOperationException.class);
        channel.close();
        assertThatThrownBy(() -> channel.read(last, 0).get())
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(ClosedChannelException.class);
    }

    private List<String> callsOfAHandlerThatThrows(AsynchronousFileChannel channel) throws Exception {
        List<String> calls = new CopyOnWriteArrayList<>();
        channel.read(ByteBuffer.allocate(1), 0, calls, new CompletionHandler<>() {
            @Override
            public void completed(Integer count, List<String> attachment) {
                attachment.add("completed");
                throw new IllegalStateException("of the handler");
            }

            @Override
            public void failed(Throwable failure, List<String> attachment) {
                attachment.add("failed");
            }
        });
        for (int i = 0; i < 100 || calls.isEmpty(); i++) { // until another call would have come
            assertThat(channel.read(ByteBuffer.allocate(1), 0).get()).isEqualTo(1);
        }
        return calls;
    }
}
