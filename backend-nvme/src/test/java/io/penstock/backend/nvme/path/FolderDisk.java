// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.FileOption;
import io.penstock.backend.nvme.qemu.NbdDisk;
import io.penstock.engine.kit.WrappedFile;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.kit.host.HostFiles;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.Shared;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.BitSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A disk whose blocks are the bytes of ordinary files, each of which has a range of {@value #RANGE} bytes while it is
 * open. So the rules, which create and check files by the operating system, test the bytes that the controller moves.
 */
final class FolderDisk implements NbdDisk.Content, NvmeFiles {

    private static final long RANGE = 1L << 40;
    private static final int RANGES = 256;
    private static final int BLOCK = 512;

    private final BitSet used = new BitSet(); // guarded by this
    private final Map<Integer, FileChannel> channels = new ConcurrentHashMap<>(); // by range
    private final Shared<Object, Range> ranges = new Shared<>(this::close); // by the identity of the file

    private record Range(int index, FileChannel channel) {}

    @Override
    public long bytes() {
        return RANGES * RANGE;
    }

    @Override
    public NvmeFile open(Path path, Set<FileOption> options) throws IOException {
        HostFile host = HostFiles.open(path, options, 1 << 20);
        try {
            return new OpenFile(host, ranges.open(host.identity(), () -> open(path)));
        } catch (IOException | RuntimeException e) {
            host.close();
            throw e;
        }
    }

    private Range open(Path path) throws IOException {
        FileChannel channel = path.toFile().canWrite()
                ? FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)
                : FileChannel.open(path, StandardOpenOption.READ);
        int index;
        synchronized (this) {
            index = used.nextClearBit(0);
            used.set(index);
        }
        channels.put(index, channel);
        return new Range(index, channel);
    }

    private void close(Range range) {
        channels.remove(range.index);
        synchronized (this) {
            used.clear(range.index);
        }
        try {
            range.channel.close();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private FileChannel channel(long offset) throws IOException {
        FileChannel channel = channels.get((int) (offset / RANGE));
        if (channel == null) {
            throw new IOException("no file at " + offset);
        }
        return channel;
    }

    /** {@inheritDoc} Beyond the end of a file are zeros. */
    @Override
    public void read(long offset, ByteBuffer target) throws IOException {
        FileChannel channel = channel(offset);
        for (long at = offset % RANGE; target.hasRemaining(); ) {
            int got = channel.read(target, at);
            if (got < 0) {
                target.put(new byte[target.remaining()]);
            }
            at += got;
        }
    }

    @Override
    public void write(long offset, ByteBuffer source) throws IOException {
        FileChannel channel = channel(offset);
        for (long at = offset % RANGE; source.hasRemaining(); ) {
            at += channel.write(source, at);
        }
    }

    @Override
    public void flush() throws IOException {
        for (FileChannel channel : channels.values()) {
            channel.force(false);
        }
    }

    private final class OpenFile extends WrappedFile<HostFile> implements NvmeFile {

        private final Range range;

        OpenFile(HostFile host, Range range) {
            super(host, new Limits(BLOCK, 1, 2 << 20, 1 << 20, false));
            this.range = range;
        }

        @Override
        public int namespace() {
            return 1;
        }

        @Override
        public int blockBytes() {
            return BLOCK;
        }

        @Override
        public long block(long fileOffset) {
            return (range.index * RANGE + fileOffset) / BLOCK;
        }

        @Override
        public long readable(long fileOffset, long bytes) throws IOException {
            return Math.max(0, Math.min(bytes, host().size() - fileOffset));
        }

        @Override
        public long writable(long fileOffset, long bytes) {
            return Math.max(0, Math.min(bytes, RANGE - fileOffset));
        }

        @Override
        public void close() {
            ranges.leave(range);
            super.close();
        }
    }
}
