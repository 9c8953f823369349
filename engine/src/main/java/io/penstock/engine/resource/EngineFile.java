// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import io.penstock.FileOption;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.order.BlockLocks;
import io.penstock.engine.order.Pinned;
import io.penstock.engine.order.SyncLine;
import io.penstock.engine.order.WriteBarrier;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.NativeFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** An open file: a native file for each path, with a use count (rules 201, 202). */
public class EngineFile extends Pinned implements StorageFile {

    private static final Logger LOG = LoggerFactory.getLogger(EngineFile.class);

    private final Owner owner;
    private final Path path;
    private final Set<FileOption> options;
    private final boolean readable;
    private final boolean writable;
    private final List<OpenedFile> natives;
    private final int lastPath;
    private final NativeFile general; // of the last path, which most transfers use; saves an indirection

    /** The same, if it is one: saves every transfer a search among its interfaces. */
    private final @Nullable AsyncFile async;

    private boolean nativesClosed; // guarded by natives
    private volatile @Nullable Consumer<@Nullable PenstockException> whenClosed; // written under natives

    private final WriteBarrier barrier = new WriteBarrier();
    private final SyncLine syncs = new SyncLine();
    private final BlockLocks locks;

    /**
     * The result of opening the file on one path.
     *
     * @param file null if the path could not open it
     * @param refusal why not
     */
    public record OpenedFile(@Nullable NativeFile file, String refusal) {

        /** Returns why what was written to it may be lost; null in most cases. */
        @Nullable
        IOException close() {
            try {
                if (file != null) {
                    file.close();
                }
                return null;
            } catch (UncheckedIOException e) {
                return e.getCause();
            }
        }
    }

    public EngineFile(Owner owner, Path path, Set<FileOption> options, List<OpenedFile> natives) {
        this.owner = owner;
        this.path = path;
        this.options = options;
        this.writable = options.contains(FileOption.WRITE);
        this.readable = options.contains(FileOption.READ) || !writable;
        this.natives = natives;
        this.lastPath = natives.size() - 1;
        this.general = Objects.requireNonNull(natives.get(lastPath).file);
        this.async = general instanceof AsyncFile own ? own : null;
        this.locks = BlockLocks.open(general.identity());
    }

    @Override
    public void free() {
        locks.close();
        owner.resources().remove(this);
        // Some file systems write back or free blocks here, and an I/O queue may hold the last pin.
        // The backend's close waits for that: the process may end behind it.
        OpenResources resources = owner.resources();
        resources.closing(1);
        boolean entered = owner.enterWhileOpen();
        offQueue(() -> {
            try {
                closeNatives();
            } finally {
                if (entered) {
                    owner.leave();
                }
                resources.closing(-1); // behind its pin, so that no transfer seems to be in flight
            }
        });
    }

    /** Returns whether another host has it, so that closing it may wait for that. */
    boolean isRemote() {
        return false;
    }

    private void execute(Runnable call) {
        if (isRemote()) {
            Offload.scheduler(true).schedule(call);
        } else {
            owner.fileThreads().run(path, call);
        }
    }

    /** Runs a call on it that may block: on another thread, if the calling thread must not block. */
    public final void offQueue(Runnable call) {
        Offload.blocking(this::execute, call);
    }

    private void closeNatives() {
        PenstockException late = null;
        for (OpenedFile opened : natives) {
            IOException failure = opened.close();
            late = failure == null || !writable ? late : Failures.lateError(path, failure);
        }
        Consumer<@Nullable PenstockException> listener;
        synchronized (natives) {
            nativesClosed = true;
            listener = whenClosed;
        }
        if (listener != null) {
            listener.accept(late);
        } else if (late != null) {
            LOG.warn("{}", late.getMessage());
        }
    }

    /**
     * Closes it, and calls {@code listener} when the system has closed it, with the error that it has reported; any
     * thread. One that was closed before has reported it in the log.
     */
    public final void close(Consumer<@Nullable PenstockException> listener) {
        synchronized (natives) {
            if (!nativesClosed) {
                whenClosed = listener;
            }
        }
        close();
        if (whenClosed == null) {
            listener.accept(null);
        }
    }

    public Owner owner() {
        return owner;
    }

    public BlockLocks locks() {
        return locks;
    }

    public WriteBarrier barrier() {
        return barrier;
    }

    public SyncLine syncs() {
        return syncs;
    }

    public boolean isReadable() {
        return readable;
    }

    public boolean isWritable() {
        return writable;
    }

    /** Returns the native file of a path that could open it. */
    public NativeFile nativeFile(int ioPath) {
        if (ioPath == lastPath) {
            return general;
        }
        NativeFile file = natives.get(ioPath).file;
        if (file == null) {
            throw new IllegalStateException(natives.get(ioPath).refusal);
        }
        return file;
    }

    /** Returns why a path could not open this file, or an empty string. */
    public String refusal(int ioPath) {
        return natives.get(ioPath).refusal;
    }

    /** Returns the most general path, which every open file has. */
    public int lastPath() {
        return lastPath;
    }

    /** Returns whether it fills host memory by itself, so that only the last path reads it. */
    public final boolean isAsync() {
        return async != null;
    }

    /** Returns the file of the most general path if that fills host memory by itself, else null. */
    public final @Nullable AsyncFile async() {
        return async;
    }

    /** Returns the file of the most general path. */
    public NativeFile nativeFile() {
        return general;
    }

    @Override
    public Path path() {
        return path;
    }

    @Override
    public Set<FileOption> options() {
        return options;
    }

    @Override
    public long size() {
        if (!tryPin()) {
            throw Failures.closed("size of " + path, "the file", ClosedPlaces.of(this));
        }
        try {
            return nativeFile().size();
        } catch (IOException e) {
            throw named("size", e);
        } finally {
            unpin();
        }
    }

    @Override
    public Optional<FileChannel> cachedChannel(long offset, long length) {
        region(offset, length); // which checks them
        if (!(general instanceof HostFile host) || !readable || length == 0) {
            return Optional.empty();
        }
        if (!tryPin()) {
            throw Failures.closed("a channel of " + path, "the file", ClosedPlaces.of(this));
        }
        try {
            return host.cachedChannel(offset, length);
        } finally {
            unpin();
        }
    }

    /** As {@link NativeFile#hasItsLength}. */
    public boolean hasItsLength() {
        return general.hasItsLength();
    }

    @Override
    public BasicFileAttributes attributes() {
        try {
            return general.attributes();
        } catch (IOException e) {
            throw named("attributes", e);
        }
    }

    /** Returns an exception that names the file, which the exception of a system call does not name. */
    private UncheckedIOException named(String what, IOException cause) {
        return new UncheckedIOException(what + " of " + path + " failed: " + cause.getMessage(), cause);
    }

    @Override
    public long blockSize() {
        return nativeFile().limits().fileAlignment();
    }

    @Override
    public Mono<Void> sync() {
        return owner.sync(this);
    }

    @Override
    public Mono<Void> truncate(long size) {
        checkSize(size);
        return control("truncate to " + size + " bytes", file -> file.truncate(size));
    }

    @Override
    public Mono<Void> preallocate(long size) {
        checkSize(size);
        return control("preallocate of " + size + " bytes", file -> file.preallocate(size));
    }

    /** Runs a call that may block, off the I/O queues' and subscribers' threads; the file stays open meanwhile. */
    private Mono<Void> control(String what, NativeCall call) {
        String request = what + " of " + path;
        return Offload.run(owner, this::execute, () -> {
            if (!tryPin()) {
                throw Failures.closed(request, "the file");
            }
            try {
                call.run(general);
                return null;
            } catch (IOException e) {
                throw Failures.control(request, e);
            } finally {
                unpin();
            }
        });
    }

    @FunctionalInterface
    private interface NativeCall {
        void run(NativeFile file) throws IOException;
    }

    private static void checkSize(long size) {
        if (size < 0) {
            throw new IllegalArgumentException("file size must be at least 0 bytes, was " + size);
        }
    }

    @Override
    public void close() {
        ClosedPlaces.add(owner, this);
        retire();
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
