// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.file;

import io.penstock.FileOption;
import io.penstock.engine.host.kernel.FileCalls;
import io.penstock.engine.host.uring.Indices;
import io.penstock.engine.host.uring.RingRegistration;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.ffi.PageCache;
import io.penstock.engine.kit.ffi.PathName;
import io.penstock.engine.kit.file.FileStamp;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A file behind a descriptor. */
public final class LinuxFile implements HostFile {
    private static final int MODE = 0666;
    private static final int STATFS_BYTES = 120;
    private static final int PASSES = 16; // after a read that the page cache did not have
    private static final long MOST_CACHED = 1L << 30; // the kernel looks up each page
    private static final Indices INDICES = new Indices();

    private final FileCalls calls;
    private final Path path;
    private final Limits limits;
    private final BasicFileAttributes attributes;
    private final boolean blockDevice;
    private final @Nullable Object lane;
    private final boolean layered;
    private final boolean needsWorkers;
    private final boolean hasItsLength;
    private final String reason;
    private int passes; // reads that are not tried in the page cache; racy, since a lost one costs a system call
    private final int index = INDICES.take();
    private final List<RingRegistration> registrations = new ArrayList<>(); // guarded by this: tables it is in
    // Written under this; read by I/O queues without it, which the engine's pins prevent from reading after close.
    private volatile int fd; // -1 once closed

    private LinuxFile(FileCalls calls, Path path, int fd, FileStatus status, Limits limits, boolean direct) {
        ByteBuffer statfs = ByteBuffer.allocateDirect(STATFS_BYTES).order(ByteOrder.nativeOrder());
        long type = !status.isRegular() ? -1 : calls.fileSystem(fd, statfs);
        this.calls = calls;
        this.path = path;
        this.fd = fd;
        this.limits = limits;
        layered = Storage.isLayered(type);
        String below = layered ? Layers.remote(fd) : "";
        boolean local = Storage.isLocal(type) && below.isEmpty();
        lane = local ? null : status.identity().device();
        needsWorkers = direct && layered;
        hasItsLength = !Storage.statesPages(type);
        String system = below.isEmpty() ? Storage.name(type) : "an overlay on " + below;
        reason = local ? "" : "blocking calls on threads: the file system is " + system;
        attributes = status.attributes();
        blockDevice = status.isBlockDevice();
    }

    /**
     * Opens a regular file or a block device.
     *
     * @param segmentBytes the segment size that its limits recommend
     * @throws IOException the JDK's types where they fit, as {@link java.nio.channels.FileChannel#open} would
     */
    public static LinuxFile open(Path path, Set<FileOption> options, long segmentBytes) throws IOException {
        return open(FileCalls.LINUX, path, options, segmentBytes);
    }

    /** As above, over simulated calls; for tests. */
    public static LinuxFile open(FileCalls calls, Path path, Set<FileOption> options, long segmentBytes)
            throws IOException {
        HostFile.check(options);
        if (path.getFileSystem() != FileSystems.getDefault()) {
            throw new ProviderMismatchException("not a path of the operating system: " + path);
        }
        PathKind.refusePipe(path);
        byte[] name = PathName.of(path);
        int fd;
        do {
            fd = calls.open(name, flags(options), MODE);
        } while (fd == -Errno.EINTR);
        if (fd < 0) {
            IOException refused = failure(path, -fd, options);
            RuntimeException limit = HostFailure.ofLimit(path, -fd, refused);
            if (limit != null) {
                throw limit;
            }
            throw refused;
        }
        try {
            FileStatus status = FileStatus.of(calls, fd);
            checkKind(path, status);
            Limits limits = limits(path, status, options, segmentBytes);
            return new LinuxFile(calls, path, fd, status, limits, options.contains(FileOption.DIRECT));
        } catch (IOException | RuntimeException unusable) {
            calls.close(fd);
            throw unusable;
        }
    }

    /** Takes ownership of a descriptor of any kind; for tests. */
    public static LinuxFile adopt(Path name, int fd) throws ErrnoException {
        return new LinuxFile(
                FileCalls.LINUX, name, fd, FileStatus.of(FileCalls.LINUX, fd), Limits.none(1 << 20), false);
    }

    @Override
    public int fd() {
        return fd;
    }

    /** Returns a small number, unique among the files that are open now. */
    public int index() {
        return index;
    }

    @Override
    public Optional<FileChannel> cachedChannel(long offset, long bytes) {
        boolean asked = lane == null && isCached() && !blockDevice && bytes <= MOST_CACHED;
        if (!asked || !PageCache.holds(fd, offset, bytes)) {
            return Optional.empty();
        }
        try { // of what the descriptor refers to, whatever has its name by now
            return Optional.of(FileChannel.open(Path.of("/proc/self/fd/" + fd), StandardOpenOption.READ));
        } catch (IOException e) {
            return Optional.empty(); // its mode was changed, or there is no /proc
        }
    }

    @Override
    public long readCached(long offset, long address, long bytes) {
        if (mayWait() || blockDevice || !isCached()) {
            return 0;
        }
        if (passes > 0) {
            passes--;
            return 0;
        }
        long read = calls.readCached(fd, address, bytes, offset);
        if (read < bytes) {
            passes = read == -Errno.EOPNOTSUPP ? Integer.MAX_VALUE : PASSES;
        }
        return read;
    }

    @Override
    public @Nullable Object lane() {
        return lane;
    }

    @Override
    public String reason() {
        return reason;
    }

    @Override
    public boolean mayWait() {
        return lane != null || layered;
    }

    @Override
    public boolean hasItsLength() {
        return hasItsLength;
    }

    /**
     * Returns whether the I/O queue itself must not execute its requests, however small: they may wait for another
     * host.
     */
    public boolean needsWorkers() {
        return needsWorkers;
    }

    /**
     * Returns whether kernel workers gain by copying for the I/O queue: a file that bypasses the page cache has no
     * copy.
     */
    public boolean isCached() {
        return limits.fileAlignment() == 1;
    }

    /** Registers it in a ring's file table, at its index, until it is closed; returns true if it is registered. */
    public synchronized boolean register(RingRegistration registration) {
        if (fd < 0 || registration.updateFile(index, fd) < 0) {
            return false;
        }
        registrations.add(registration);
        return true;
    }

    @Override
    public Path path() {
        return path;
    }

    @Override
    public Limits limits() {
        return limits;
    }

    @Override
    public Object identity() {
        return attributes.fileKey();
    }

    @Override
    public BasicFileAttributes attributes() {
        return attributes;
    }

    @Override
    public synchronized long size() throws IOException {
        if (blockDevice) {
            return check("lseek", calls.seekEnd(fd));
        }
        return FileStatus.of(calls, fd).stamp().size();
    }

    @Override
    public synchronized FileStamp stamp() throws IOException {
        return FileStatus.of(calls, fd).stamp();
    }

    @Override
    public synchronized void truncate(long bytes) throws IOException {
        int answer;
        do {
            answer = calls.truncate(fd, bytes);
        } while (answer == -Errno.EINTR);
        check("ftruncate", answer);
    }

    @Override
    public synchronized void preallocate(long bytes) throws IOException {
        check("fallocate", allocate(0, bytes));
    }

    private int allocate(long offset, long bytes) {
        int answer;
        do {
            answer = calls.allocate(fd, offset, bytes);
        } while (answer == -Errno.EINTR);
        return answer;
    }

    @Override
    public synchronized void lengthen(long bytes) throws IOException {
        if (size() >= bytes) {
            return;
        }
        // Not ftruncate, which would cut off what another writer has appended since; and not the whole range, which
        // would fill holes.
        int answer = allocate(bytes - 1, 1);
        if (answer == -Errno.EOPNOTSUPP) {
            ByteBuffer zero = ByteBuffer.allocateDirect(1);
            try {
                check("pwrite", calls.write(fd, NativeMemory.address(zero), 1, bytes - 1));
            } finally {
                Reference.reachabilityFence(zero);
            }
            check("fdatasync", calls.syncData(fd)); // no write-back may follow the caller's own write
        } else {
            check("fallocate", answer);
        }
    }

    @Override
    public long read(long fileOffset, long address, long bytes) {
        return calls.read(fd, address, bytes, fileOffset);
    }

    @Override
    public long write(long fileOffset, long address, long bytes) {
        return calls.write(fd, address, bytes, fileOffset);
    }

    @Override
    public long sync() {
        return calls.syncData(fd);
    }

    @Override
    public synchronized void close() {
        if (fd >= 0) {
            for (RingRegistration registration : registrations) {
                registration.updateFile(index, -1); // the table would keep the file open
            }
            // Whatever close returns, the descriptor is closed: a retry after EINTR could close another owner's.
            int answer = calls.close(fd);
            fd = -1;
            INDICES.give(index);
            if (answer < 0 && answer != -Errno.EINTR) {
                throw new UncheckedIOException(new ErrnoException("close", -answer));
            }
        }
    }

    @Override
    public String toString() {
        return path.toString();
    }

    private long check(String call, long answer) throws ErrnoException {
        if (answer < 0) {
            throw new ErrnoException(call + " of " + path, call, (int) -answer);
        }
        return answer;
    }

    private static int flags(Set<FileOption> options) {
        boolean writes = options.contains(FileOption.WRITE);
        // Unaligned edges of a direct file are read before they are merged and written, even if the application only
        // writes.
        boolean reads = options.contains(FileOption.READ) || options.contains(FileOption.DIRECT) || !writes;
        int flags = LibC.O_CLOEXEC | (writes ? reads ? LibC.O_RDWR : LibC.O_WRONLY : LibC.O_RDONLY);
        flags |= options.contains(FileOption.CREATE) ? LibC.O_CREAT : 0;
        flags |= options.contains(FileOption.CREATE_NEW) ? LibC.O_CREAT | LibC.O_EXCL : 0;
        flags |= options.contains(FileOption.TRUNCATE) ? LibC.O_TRUNC : 0;
        flags |= options.contains(FileOption.DIRECT) ? LibC.O_DIRECT : 0;
        return flags;
    }

    private static Limits limits(Path path, FileStatus status, Set<FileOption> options, long segmentBytes)
            throws FileSystemException {
        if (!options.contains(FileOption.DIRECT)) {
            return Limits.none(segmentBytes);
        }
        long file = status.directOffsetAlignment();
        long memory = status.directMemoryAlignment();
        if (memory == 0) {
            throw noDirect(path);
        }
        long segment = Math.max(file, segmentBytes - segmentBytes % file);
        return new Limits(file, memory, Limits.LINUX_MAX_BYTES - Limits.LINUX_MAX_BYTES % file, segment, false);
    }

    private static void checkKind(Path path, FileStatus status) throws FileSystemException {
        if (status.isDirectory()) {
            throw new FileSystemException(path.toString(), null, "is a directory");
        }
        if (!status.isRegular() && !status.isBlockDevice()) {
            throw new FileSystemException(path.toString(), null, "neither a regular file nor a block device");
        }
    }

    private static IOException failure(Path path, int errno, Set<FileOption> options) {
        String name = path.toString();
        ErrnoException cause = new ErrnoException("open", errno);
        FileSystemException failure = switch (errno) {
            case Errno.ENOENT -> new NoSuchFileException(name);
            case Errno.EACCES, Errno.EPERM -> new AccessDeniedException(name);
            case Errno.EEXIST -> new FileAlreadyExistsException(name);
            case Errno.EISDIR -> new FileSystemException(name, null, "is a directory");
            case Errno.EINVAL ->
                options.contains(FileOption.DIRECT)
                        ? noDirect(path)
                        : new FileSystemException(name, null, cause.getMessage());
            default -> new FileSystemException(name, null, cause.getMessage());
        };
        failure.initCause(cause);
        return failure;
    }

    private static FileSystemException noDirect(Path path) {
        return new FileSystemException(path.toString(), null, "the file system does not support direct I/O (O_DIRECT)");
    }
}
