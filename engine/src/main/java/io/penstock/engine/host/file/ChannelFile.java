// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.file;

import io.penstock.FileOption;
import io.penstock.engine.ffi.WindowsFiles;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.file.FileStamp;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A file behind a channel of the JDK: works on any operating system, and on any file system of the JDK. */
public final class ChannelFile implements HostFile {
    private static final Set<String> PAGES = Set.of("sysfs", "configfs"); // as Storage.statesPages

    private final Path path;
    private final FileChannel channel;
    private final BasicFileAttributes attributes;
    private final Object identity;
    private final Object lane;
    private final Limits limits;

    private ChannelFile(Path path, FileChannel channel, BasicFileAttributes attributes, Object identity, Limits limits)
            throws IOException {
        this.path = path;
        lane = lane(path);
        this.channel = channel;
        this.attributes = attributes;
        this.identity = identity;
        this.limits = limits;
    }

    /**
     * Opens a file.
     *
     * @param segmentBytes the segment size that its limits recommend
     * @throws IOException as {@link FileChannel#open}
     */
    public static ChannelFile open(Path path, Set<FileOption> options, long segmentBytes) throws IOException {
        HostFile.check(options);
        if (Files.isDirectory(path)) {
            throw new FileSystemException(path.toString(), null, "is a directory");
        }
        PathKind.refusePipe(path);
        boolean direct = options.contains(FileOption.DIRECT);
        FileChannel channel = openChannel(path, options, direct);
        try {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            Object identity = identity(path, attributes.fileKey());
            Limits limits = direct
                    ? directLimits(Files.getFileStore(path).getBlockSize(), segmentBytes)
                    : Limits.none(segmentBytes);
            return new ChannelFile(path, channel, attributes, identity, limits);
        } catch (IOException | RuntimeException unusable) {
            try (channel) {
                throw unusable; // also if the close fails
            }
        }
    }

    /** Returns one identity for all names of a file, where the system reports it; the JDK does not on Windows. */
    private static Object identity(Path path, @Nullable Object key) throws IOException {
        if (key != null) {
            return key;
        }
        long[] known = WindowsFiles.identity(path);
        return known.length == 0 ? path.toRealPath() : new FileIdentity(known[0], known[1]);
    }

    @Override
    public Path path() {
        return path;
    }

    @Override
    public int fd() {
        return -1;
    }

    @Override
    public Limits limits() {
        return limits;
    }

    @Override
    public Object identity() {
        return identity;
    }

    @Override
    public Object lane() {
        return lane;
    }

    /** Returns what distinguishes file systems: the device, where the JDK has it. */
    private static Object lane(Path path) throws IOException {
        FileSystem system = path.getFileSystem();
        if (system.supportedFileAttributeViews().contains("unix")) {
            return Files.getAttribute(path, "unix:dev");
        }
        Path root = path.toAbsolutePath().getRoot();
        return root == null ? system : root;
    }

    @Override
    public BasicFileAttributes attributes() {
        return attributes;
    }

    @Override
    public long size() throws IOException {
        return shielded(channel::size);
    }

    @Override
    public boolean hasItsLength() {
        try {
            return !PAGES.contains(Files.getFileStore(path).type());
        } catch (IOException | RuntimeException unknown) {
            return true;
        }
    }

    @Override
    public FileStamp stamp() throws IOException {
        long modified = Files.readAttributes(path, BasicFileAttributes.class)
                .lastModifiedTime()
                .to(TimeUnit.NANOSECONDS);
        return new FileStamp(size(), modified, 0);
    }

    @Override
    public void truncate(long bytes) throws IOException {
        shielded(() -> {
            if (bytes > channel.size()) {
                writeBehind(bytes);
            }
            return channel.truncate(bytes);
        });
    }

    /** Lengthens the file to at least {@code bytes}: FileChannel.truncate only shortens, and a hole reads as zeros. */
    private void writeBehind(long bytes) throws IOException {
        int block = Math.toIntExact(limits.fileAlignment());
        long behind = Math.multiplyExact((bytes + block - 1) / block, (long) block);
        // A whole block behind the new length, since a direct channel accepts no less; the caller truncates it again.
        channel.write(ByteBuffer.allocateDirect(2 * block).alignedSlice(block).limit(block), behind);
    }

    @Override
    public void lengthen(long bytes) throws IOException {
        shielded(() -> {
            if (channel.size() < bytes) {
                channel.write(ByteBuffer.allocate(1), bytes - 1);
                channel.force(false); // no write-back may follow the caller's own write
            }
            return channel;
        });
    }

    @Override
    public void preallocate(long bytes) throws IOException {
        throw new ErrnoException("preallocation of " + path + " through a file channel", "fallocate", Errno.EOPNOTSUPP);
    }

    @Override
    public long read(long fileOffset, long address, long bytes) throws IOException {
        return shielded(() -> read(fileOffset, NativeMemory.view(address, bytes)));
    }

    @Override
    public long write(long fileOffset, long address, long bytes) throws IOException {
        return shielded(() -> write(fileOffset, NativeMemory.view(address, bytes)));
    }

    // A channel returns 0 where the system call returns EAGAIN; treated as the end of the file that would be a short
    // read.

    /** Reads once into what remains of {@code memory}; as {@link #read(long, long, long)}. */
    public long read(long fileOffset, ByteBuffer memory) throws IOException {
        if (fileOffset % limits.fileAlignment() != 0) {
            return -Errno.EINVAL; // the JDK refuses it without a number
        }
        try {
            int got = channel.read(memory, fileOffset);
            return got == 0 && memory.hasRemaining() ? -Errno.EAGAIN : Math.max(0, got); // -1 is the end of the file
        } catch (IOException refused) {
            return HostFailure.result(refused);
        }
    }

    /** Writes once what remains of {@code memory}; as {@link #write(long, long, long)}. */
    public long write(long fileOffset, ByteBuffer memory) throws IOException {
        try {
            int put = channel.write(memory, fileOffset);
            return put == 0 && memory.hasRemaining() ? -Errno.EAGAIN : put;
        } catch (IOException refused) {
            return HostFailure.result(refused);
        }
    }

    @Override
    public long sync() throws IOException {
        try {
            shielded(() -> {
                channel.force(false);
                return channel;
            });
            return 0;
        } catch (IOException refused) {
            return HostFailure.result(refused);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException refused) {
            throw new UncheckedIOException(refused);
        }
    }

    @Override
    public String toString() {
        return path.toString();
    }

    // A channel closes itself when the thread that uses it is interrupted, as schedulers do to cancel: so the flag is
    // saved and cleared. An interruption during the call still closes the file; queues use their own threads.
    private static <T> T shielded(ChannelCall<T> call) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            return call.call();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static FileChannel openChannel(Path path, Set<FileOption> options, boolean direct) throws IOException {
        Set<OpenOption> open = new HashSet<>();
        for (FileOption option : options) {
            switch (option) {
                case READ -> open.add(StandardOpenOption.READ);
                case WRITE -> open.add(StandardOpenOption.WRITE);
                case CREATE -> open.add(StandardOpenOption.CREATE);
                case CREATE_NEW -> open.add(StandardOpenOption.CREATE_NEW);
                case TRUNCATE -> open.add(StandardOpenOption.TRUNCATE_EXISTING);
                case DIRECT -> {
                    open.add(directOption(path));
                    open.add(StandardOpenOption.READ); // unaligned edges are read before they are merged and written
                }
                case IMMUTABLE, EXCLUSIVE -> {}
            }
        }
        try {
            return FileChannel.open(path, open);
        } catch (UnsupportedOperationException refused) {
            if (direct) {
                throw new FileSystemException(path.toString(), null, "the file system does not support direct I/O");
            }
            throw refused;
        } catch (IOException refused) {
            RuntimeException limit = HostFailure.ofLimit(path, refused);
            if (limit != null) {
                throw limit;
            }
            throw refused;
        }
    }

    // com.sun.nio.file.ExtendedOpenOption.DIRECT is in jdk.unsupported, which an image may lack.
    private static OpenOption directOption(Path path) throws FileSystemException {
        try {
            Class<?> type = Class.forName("com.sun.nio.file.ExtendedOpenOption");
            for (Object constant : type.getEnumConstants()) {
                if (constant.toString().equals("DIRECT")) {
                    return (OpenOption) constant;
                }
            }
        } catch (ClassNotFoundException absent) {
            // reported below
        }
        throw new FileSystemException(path.toString(), null, "this JDK does not support direct I/O on file channels");
    }

    private static Limits directLimits(long blockBytes, long segmentBytes) {
        long segment = Math.max(blockBytes, segmentBytes - segmentBytes % blockBytes);
        long most = Limits.LINUX_MAX_BYTES - Limits.LINUX_MAX_BYTES % blockBytes;
        return new Limits(blockBytes, blockBytes, most, segment, false);
    }

    private interface ChannelCall<T> {
        T call() throws IOException;
    }
}
