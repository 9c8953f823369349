// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A backend for code that blocks, or that uses {@link CompletableFuture}: {@link Backend#blocking}.
 *
 * <p><b>Threading:</b> thread-safe. Methods block the calling thread, which may be virtual: it waits without a lock. A
 * thread of a Reactor scheduler that must not block gets an {@link IllegalStateException}.
 *
 * <p><b>Errors:</b> the errors of the backend's publishers, thrown as they are.
 *
 * <p><b>Cancellation:</b> an interrupt cancels the operation, as a cancel of its publisher does, and throws
 * {@link InterruptedException}. What was opened or allocated in the same moment is closed. If the operation ended
 * first, its result is returned, or its failure thrown, and the thread stays interrupted.
 */
public final class BlockingBackend {

    private final Backend backend;

    BlockingBackend(Backend backend) {
        this.backend = backend;
    }

    /** Opens a file, as {@link Backend#openFile} does; the caller closes it. */
    public StorageFile openFile(Path path, FileOption... options) throws IOException, InterruptedException {
        return Objects.requireNonNull(await(backend.openFile(path, options)));
    }

    /** Allocates device memory, as {@link Backend#allocate} does; the caller closes it. */
    public DeviceBuffer allocate(long bytes) throws InterruptedException {
        return value(backend.allocate(bytes));
    }

    /** Moves the bytes of one transfer. */
    public Completion submit(Transfer transfer) throws InterruptedException {
        return value(backend.submit(transfer));
    }

    /** Moves the bytes of many transfers, pipelined; returns their completions in the same order. */
    public List<Completion> submit(List<Transfer> transfers) throws InterruptedException {
        return value(backend.submit(Flux.fromIterable(transfers), SubmitOptions.DEFAULT.ordered())
                .collectList());
    }

    /** Streams files through a few chunks, as {@link Backend#stream} does; {@code use} runs on the calling thread. */
    public void stream(StreamPlan plan, Consumer<? super Chunk> use) throws IOException, InterruptedException {
        Objects.requireNonNull(use, "use");
        Caller caller = new Caller();
        caller.run(backend.stream(
                        plan,
                        chunk -> caller.call(chunk, lent -> {
                            use.accept(lent);
                            return 0;
                        }))
                .then());
    }

    /**
     * Writes chunks that {@code fill} fills, as {@link Backend#write(WritePlan, java.util.function.Function)} does;
     * {@code fill} runs on the calling thread.
     *
     * @param fill returns the number of bytes of the chunk to write; 0 ends the write
     * @return the bytes written
     */
    public long write(WritePlan plan, ToLongFunction<? super Chunk> fill) throws IOException, InterruptedException {
        Objects.requireNonNull(fill, "fill");
        Caller caller = new Caller();
        return Objects.requireNonNull(caller.run(backend.write(plan, chunk -> caller.call(chunk, fill))));
    }

    /**
     * Blocks until a publisher has ended: {@code await(file.sync())}.
     *
     * @return the value; null if the publisher is empty
     */
    public <T> @Nullable T await(Mono<T> mono) throws IOException, InterruptedException {
        checkMayBlock();
        return get(future(mono));
    }

    /**
     * Subscribes to a publisher. Cancelling the future cancels the publisher; a file or buffer that arrives in the same
     * moment is closed, which {@link Mono#toFuture} does not do.
     */
    public <T> CompletableFuture<@Nullable T> future(Mono<T> mono) {
        MonoFuture<T> future = new MonoFuture<>();
        mono.subscribe(future);
        return future;
    }

    /**
     * Returns a file as a channel of the JDK, from position 0: for libraries that take one, and by {@link
     * java.nio.channels.Channels#newInputStream} a stream. It copies through 256 KiB of the backend's memory. Closing it
     * frees that; the file stays open.
     *
     * <p><b>Threading:</b> thread-safe, one call at a time.
     *
     * <p><b>Errors:</b> its calls throw what {@link #await} throws, and {@link java.io.InterruptedIOException}.
     */
    public SeekableByteChannel channel(StorageFile file) throws InterruptedException {
        return new SeekableFile(this, file);
    }

    /**
     * Returns a file as an asynchronous channel of the JDK: for libraries that take one. Each operation copies through
     * memory of the backend as large as its buffer. Handlers are called on the delivery scheduler. There are no locks.
     * Closing it leaves the file open.
     */
    public AsynchronousFileChannel asynchronousChannel(StorageFile file) {
        return new AsynchronousFile(this, file);
    }

    Backend backend() {
        return backend;
    }

    /** Waits as a channel of the JDK does: an interrupt stays set, and is an IOException. */
    <T> @Nullable T await(StorageFile of, Mono<T> mono) throws IOException {
        try {
            return await(mono);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException)
                    new InterruptedIOException("interrupted while " + of.path() + " was accessed").initCause(e);
        }
    }

    /** As {@link #await}, of a publisher that has a value and no IOException. */
    private <T> T value(Mono<T> mono) throws InterruptedException {
        try {
            return Objects.requireNonNull(await(mono));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void checkMayBlock() {
        if (Schedulers.isInNonBlockingThread()) {
            throw new IllegalStateException("thread must be one that may block, was "
                    + Thread.currentThread().getName());
        }
    }

    private static <T> @Nullable T get(CompletableFuture<@Nullable T> future) throws IOException, InterruptedException {
        try {
            return future.get();
        } catch (InterruptedException e) {
            if (future.cancel(true)) {
                throw e;
            }
            try {
                return get(future); // it has ended: this does not wait
            } finally {
                Thread.currentThread().interrupt();
            }
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        }
    }

    /**
     * Returns the failure, if it may be thrown undeclared. Its stack trace is an I/O queue's: adds the caller's.
     */
    private static RuntimeException failure(@Nullable Throwable cause) throws IOException {
        if (cause instanceof IOException failure) {
            throw failure;
        }
        if (cause instanceof Error error) {
            throw error;
        }
        RuntimeException failure =
                cause instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(cause);
        failure.addSuppressed(new Exception("thrown to the caller"));
        return failure;
    }

    @Override
    public String toString() {
        return "blocking " + backend;
    }

    /** The calling thread, as the executor of the functions that get the chunks of one stream. */
    private final class Caller {

        private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

        /** Emits the result of {@code function}, which runs in {@link #run}. */
        Mono<Long> call(Chunk chunk, ToLongFunction<? super Chunk> function) {
            return Mono.create(sink -> tasks.add(() -> {
                try {
                    sink.success(apply(function, chunk));
                } catch (Throwable e) {
                    sink.error(e);
                }
            }));
        }

        private static void wake() {}

        /** Keeps visible memory by a lease of its own, since a backend that is closed meanwhile ends the stream's. */
        private static long apply(ToLongFunction<? super Chunk> function, Chunk chunk) {
            HostLease lease = isVisible(chunk) ? chunk.retain() : null;
            try {
                return function.applyAsLong(chunk);
            } finally {
                if (lease != null) {
                    lease.close();
                }
            }
        }

        private static boolean isVisible(Chunk chunk) {
            return chunk.region().buffer().hostView().isPresent();
        }

        /** Runs what {@link #call} adds, until the publisher has ended. */
        <T> @Nullable T run(Mono<T> mono) throws IOException, InterruptedException {
            checkMayBlock();
            CompletableFuture<@Nullable T> future = future(mono);
            CompletableFuture<?> unused = future.whenComplete((value, failure) -> tasks.add(Caller::wake));
            while (!future.isDone()) {
                try {
                    tasks.take().run();
                } catch (InterruptedException e) {
                    if (future.cancel(true)) {
                        throw e;
                    }
                    Thread.currentThread().interrupt();
                }
            }
            return get(future);
        }
    }
}
