// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.whole;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.file.Folder;
import io.penstock.engine.host.kernel.FileCalls;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.host.uring.CompletionHandler;
import io.penstock.engine.host.uring.Ring;
import io.penstock.engine.host.uring.RingOptions;
import io.penstock.engine.host.uring.SubmissionQueue;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.ffi.PathName;
import io.penstock.engine.spi.Wakeup;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Whole files by one io_uring: it opens and reads, many with one system call; what does not wait, {@code statx} and
 * {@code close}, is called. Files that may answer late or never are left to {@link ThreadFiles}: of file systems that
 * are not on this machine, on other mounts, behind a broken ring.
 */
public final class RingFiles implements WholeFiles {

    private static final long WAKE = -1;
    private static final long PAUSE_NANOS = 50_000;
    private static final int NAME_BYTES = 256; // the most of all file systems, and a zero byte
    private static final int STATX_TYPE_AND_SIZE = 0x201;
    private static final int S_IFMT = 0xf000;
    private static final int S_IFREG = 0x8000;
    private static final int S_IFDIR = 0x4000;
    private static final int HOW = 0; // places in the memory
    private static final int WAKE_COUNT = 24;
    private static final int EMPTY_PATH = 32;
    private static final int STATX = 40;
    private static final int NAMES = 512;

    private final Kernel kernel;
    private final FileCalls calls;
    private final Ring ring;
    private final int eventfd;
    private final WholeFile[] files; // by index
    private final Folders folders;
    private final ThreadFiles threads;
    private final Consumer<? super WholeFile> read;
    private final Wakeup wakeup = new Wakeup(this::endWait);
    private final CompletionHandler handler = this::completed;
    private final ByteBuffer memory; // that the kernel reads, and statx writes
    private final long address;
    private int inFlight; // in the ring
    private int broken; // the errno that the ring broke with, or 0
    private boolean wakeIsArmed;
    private boolean closed; // guarded by wakeup

    private RingFiles(Kernel kernel, Ring ring, int eventfd, int depth, int threads, Consumer<? super WholeFile> read) {
        this.kernel = kernel;
        this.calls = kernel.files();
        this.ring = ring;
        this.eventfd = eventfd;
        this.read = read;
        this.files = new WholeFile[depth];
        this.folders = new Folders(calls);
        this.threads = new ThreadFiles(depth, threads, wakeup, "", read);
        memory = ByteBuffer.allocateDirect(NAMES + depth * NAME_BYTES).order(ByteOrder.nativeOrder());
        address = NativeMemory.address(memory);
        int flags = LibC.O_RDONLY | LibC.O_NONBLOCK | LibC.O_NOCTTY | LibC.O_CLOEXEC; // which named pipes need
        memory.putLong(HOW, flags).putLong(HOW + 16, IoUring.RESOLVE_NO_XDEV);
    }

    /**
     * Opens a ring.
     *
     * @param depth the most files in flight, whose indices are below it
     * @param threads the most threads for files that do not go by the ring
     * @param read gets each file whose reading has ended
     * @throws ErrnoException if the kernel refuses a ring
     */
    public static RingFiles open(Kernel kernel, int depth, int threads, Consumer<? super WholeFile> read)
            throws ErrnoException {
        Ring ring = Ring.open(kernel, RingOptions.ofEntries(depth + 1)); // plus the read for wake-ups
        int eventfd = kernel.eventfd();
        if (eventfd < 0) {
            ring.close();
            throw new ErrnoException("eventfd", -eventfd);
        }
        return new RingFiles(kernel, ring, eventfd, depth, threads, read);
    }

    @Override
    public void open(WholeFile file) {
        file.again();
        files[file.index()] = file;
        Path path = file.path();
        if (path.getFileSystem() != FileSystems.getDefault()) {
            threads.open(file, "blocking calls on threads: the path is one of another file system of the JDK");
            return;
        }
        byte[] name = PathName.of(path);
        int start = Folder.nameStart(name);
        Folder folder = folders.of(name, start);
        int length = name.length - start;
        if (!folder.reason().isEmpty() || length == 1 || length > NAME_BYTES || broken != 0) {
            threads.open(file, "blocking calls on threads: " + why(folder));
            return;
        }
        int at = NAMES + file.index() * NAME_BYTES;
        memory.put(at, name, start, length);
        file.folder = folder.use();
        submit(ring.submissions().open(folder.fd(), address + at, address + HOW, file.index()));
    }

    private String why(Folder folder) {
        if (broken != 0) {
            return "the ring failed: " + Errno.describe(broken);
        }
        return folder.reason().isEmpty() ? "no name of a file" : folder.reason();
    }

    @Override
    public void read(WholeFile file) {
        if (file.fd < 0) {
            threads.read(file);
        } else {
            read(file, 0);
        }
    }

    private void read(WholeFile file, int flags) {
        int length = (int) (file.bytes() - file.moved);
        long to = file.memory().hostAddress() + file.offset + file.moved;
        submit(ring.submissions().read(flags, file.fd, file.moved, to, length, file.index()));
    }

    private void submit(boolean hadRoom) {
        if (!hadRoom) { // each file has one operation at a time, for which there is room
            throw new IllegalStateException("the submission queue is full");
        }
        inFlight++;
    }

    @Override
    public void release(WholeFile file) {
        if (file.fd < 0) {
            threads.release(file);
        } else {
            close(file);
            file.again();
        }
    }

    private void close(WholeFile file) {
        calls.close(file.fd);
        file.fd = -1;
    }

    @Override
    public void turn(boolean waits) {
        int ended = threads.take();
        if (waits && inFlight == 0) {
            folders.close(); // their names may be other folders' by the time of the next file
        }
        boolean sleeps = waits && ended == 0 && wakeup.begin();
        try {
            try {
                enter(sleeps && broken == 0);
            } finally {
                if (sleeps) {
                    wakeup.end();
                }
            }
            ring.reap(handler);
        } catch (ErrnoException failure) {
            broken = failure.errno();
        }
        if (broken != 0) {
            ring.refusePending(handler, -broken);
            LockSupport.parkNanos(PAUSE_NANOS); // a broken ring cannot be waited for, only polled
        }
        threads.take();
    }

    private void enter(boolean waits) throws ErrnoException {
        int pending = ring.submissions().pending();
        boolean armed = waits && (wakeIsArmed || arm());
        int consumed = armed ? ring.submitAndWait() : ring.submit();
        if (pending > 0 && consumed == 0) {
            LockSupport.parkNanos(PAUSE_NANOS); // the kernel has no memory for requests at the moment
        }
    }

    private boolean arm() {
        wakeIsArmed = ring.submissions().read(0, eventfd, 0, address + WAKE_COUNT, Long.BYTES, WAKE);
        return wakeIsArmed;
    }

    private void completed(long data, int result, int flags) {
        if (data == WAKE) {
            wakeIsArmed = false;
            return;
        }
        inFlight--;
        WholeFile file = files[(int) data];
        if (file.folder != null) {
            file.folder.leave();
            file.folder = null;
            opened(file, result);
        } else {
            moved(file, result);
        }
    }

    private void opened(WholeFile file, int answer) {
        if (answer >= 0) {
            file.fd = answer;
            size(file);
            file.opened();
        } else { // another mount, a lease, a signal, a folder that was replaced: the blocking call finds the cause
            threads.open(file, "blocking calls on threads: openat2 -> " + Errno.describe(-answer));
        }
    }

    private void size(WholeFile file) {
        int answer = calls.status(file.fd, STATX_TYPE_AND_SIZE, address + EMPTY_PATH, address + STATX);
        int kind = memory.getShort(STATX + 0x1c) & S_IFMT;
        if (answer < 0) {
            file.fail(new ErrnoException("statx of " + file, "statx", -answer));
        } else if (kind != S_IFREG) {
            file.refuseKind(kind == S_IFDIR);
        } else {
            file.sized(memory.getLong(STATX + 0x28));
        }
        if (file.error() != null) {
            close(file);
        }
    }

    private void moved(WholeFile file, int answer) {
        if (answer == -Errno.EINTR || answer == -Errno.EAGAIN) {
            // By a worker, which may block: the file is open with O_NONBLOCK, and a disk that cannot do without
            // waiting,
            // such as dm-crypt's before Linux 5.14, would answer EAGAIN each time.
            read(file, SubmissionQueue.ASYNC);
            return;
        }
        if (answer < 0) {
            file.fail(new ErrnoException("read of " + file, "IORING_OP_READ", -answer));
        } else if (answer == 0 && file.bytes() > 0) {
            file.endedEarly();
        } else {
            file.moved += answer;
            if (file.moved < file.bytes()) {
                read(file);
                return;
            }
        }
        close(file);
        read.accept(file);
    }

    @Override
    public int inFlight() {
        return inFlight + threads.inFlight();
    }

    @Override
    public Wakeup wakeup() {
        return wakeup;
    }

    private void endWait() {
        synchronized (wakeup) { // the descriptor must not be reused between the check and the signal
            if (!closed) {
                kernel.eventfdSignal(eventfd);
            }
        }
    }

    @Override
    public void close() {
        synchronized (wakeup) {
            closed = true;
        }
        threads.close();
        disarm();
        folders.close();
        ring.close();
        kernel.close(eventfd);
    }

    // The pending read of the eventfd would write to memory that is about to be freed.
    private void disarm() {
        if (wakeIsArmed && broken == 0) {
            kernel.eventfdSignal(eventfd);
            try {
                while (wakeIsArmed) {
                    ring.submitAndWait();
                    ring.reap(handler);
                }
            } catch (ErrnoException failure) {
                broken = failure.errno(); // closed anyway
            }
        }
    }
}
