// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One way to move data between files and one device.
 *
 * <p><b>Threading:</b> thread-safe. Publishers are lazy, {@code subscribe} never blocks, and nothing completes inside
 * {@code subscribe}. Signals come on the scheduler of {@link CommonOptions#DELIVERY}. Reactor's context is kept.
 *
 * <p><b>Errors:</b> caller bugs (a negative offset, a buffer of another backend) are JDK exceptions, thrown at once;
 * everything else is a {@link PenstockException} or, when opening a file, an {@link java.io.IOException}, as signal.
 *
 * <p><b>Ownership:</b> the caller that opened it closes it, and with it what it still has open.
 */
public interface Backend extends AutoCloseable {

    /** Returns the provider's name, for example {@code host}. */
    String name();

    /** Returns what this backend can do. */
    Capabilities capabilities();

    /**
     * Opens a file.
     *
     * <p><b>Result:</b> the file, to be closed by the caller; {@link #withFile} does both.
     *
     * <p><b>Errors:</b> {@link java.nio.file.NoSuchFileException}, {@link java.nio.file.AccessDeniedException},
     * {@link java.nio.file.FileAlreadyExistsException}, {@link java.nio.file.FileSystemException} with the native
     * answer; {@link IllegalArgumentException} at once for options that contradict each other.
     *
     * <p><b>Cancellation:</b> at any moment; a file that has not reached the subscriber is closed.
     */
    Mono<StorageFile> openFile(Path path, FileOption... options);

    /** Opens a file, runs {@code use}, and closes the file when its Mono ends, however it ends. */
    default <T> Mono<T> withFile(Path path, FileOption option, Function<? super StorageFile, ? extends Mono<T>> use) {
        return withFile(path, new FileOption[] {option}, use);
    }

    /**
     * Opens a file, runs {@code use}, and closes the file when its Mono ends, however it ends.
     *
     * <p><b>Result:</b> what {@code use} gives, once the file is closed.
     *
     * <p><b>Cancellation:</b> at any moment: cancels the opening, or the Mono of {@code use}, and closes the file.
     */
    default <T> Mono<T> withFile(
            Path path, FileOption[] options, Function<? super StorageFile, ? extends Mono<T>> use) {
        return MonoWith.of(openFile(path, options), use);
    }

    /**
     * Allocates device memory; buffers are pooled by size class, so that this is cheap. Contents are undefined.
     *
     * <p><b>Result:</b> the buffer, to be closed by the caller; {@link #withBuffer} does both.
     *
     * <p><b>Errors:</b> {@link TransientStorageException} if the device has no memory left;
     * {@link IllegalArgumentException} at once if {@code bytes} is negative.
     *
     * <p><b>Cancellation:</b> at any moment; a buffer that has not reached the subscriber is closed.
     */
    Mono<DeviceBuffer> allocate(long bytes);

    /** Allocates a buffer, runs {@code use}, and closes the buffer when its Mono ends, however it ends. */
    default <T> Mono<T> withBuffer(long bytes, Function<? super DeviceBuffer, ? extends Mono<T>> use) {
        return MonoWith.of(allocate(bytes), use);
    }

    /**
     * Wraps memory that the application owns, which must stay valid until the buffer is closed and its transfers have
     * ended.
     *
     * @param nativeHandle the device's own handle or address
     * @param bytes the length of that memory
     * @throws IllegalArgumentException if the device does not know the handle, or its alignment does not do
     */
    DeviceBuffer wrap(long nativeHandle, long bytes);

    /**
     * Wraps the memory of a direct ByteBuffer, from its position to its limit, which is held until the buffer is
     * closed and its transfers have ended.
     *
     * @throws IllegalArgumentException if it is not direct, is read-only, or the device cannot address host memory
     */
    DeviceBuffer wrap(ByteBuffer memory);

    /**
     * Moves the bytes of one transfer; each subscription moves them once.
     *
     * <p><b>Result:</b> the completion.
     *
     * <p><b>Errors:</b> any {@link PenstockException}, with {@link PenstockException#outcome()}; after all pieces of
     * the transfer have ended. {@link IllegalArgumentException} at once if a buffer is of another backend, if a file
     * was not opened for this direction, or if a target is of a kind that this device has not.
     *
     * <p><b>Cancellation:</b> asks the device to stop and drops the result. File and buffer stay pinned until the
     * device has let go; a later transfer that overlaps waits until then (rules 201, 205).
     */
    Mono<Completion> submit(Transfer transfer);

    /** Moves many transfers with {@link SubmitOptions#DEFAULT}. */
    default Flux<Completion> submit(Publisher<Transfer> transfers) {
        return submit(transfers, SubmitOptions.DEFAULT);
    }

    /**
     * Moves many transfers, pipelined.
     *
     * <p><b>Result:</b> a completion each. Demand is honoured: at most {@code options.inFlight()} transfers are taken
     * from the publisher ahead of what the subscriber has asked for.
     *
     * <p><b>Errors:</b> as {@code options.errors()} says; those of a single transfer, and those of the publisher.
     *
     * <p><b>Cancellation:</b> as for a single transfer, for all in flight.
     */
    Flux<Completion> submit(Publisher<Transfer> transfers, SubmitOptions options);

    /**
     * Puts a transfer into the device's own order.
     *
     * <p><b>Result:</b> a fence behind the transfer, as soon as other work may wait on it:
     * {@link Capabilities#fences()} says when. The caller closes it.
     *
     * <p><b>Errors:</b> those that are known before the fence is; later ones are {@link DeviceFence#outcome()}'s.
     *
     * <p><b>Cancellation:</b> at any moment before the fence has reached the subscriber: asks the device to stop, and
     * closes the fence.
     */
    Mono<DeviceFence> enqueue(Transfer transfer);

    /**
     * Takes the application's own CUevent, cl_event, GLsync, D3D11 query or fence as a fence, for
     * {@link Transfer#after} and {@link Chunk#releaseAfter}. It stays the application's.
     *
     * @throws IllegalArgumentException if this device has no native fences
     */
    DeviceFence fence(long nativeEvent);

    /**
     * Returns whether {@code address}, which may be any pointer, is in memory of a device that
     * {@link DeviceBuffer#exportPeer} can export; so not in the host's.
     */
    default boolean isDeviceAddress(long address) {
        return false;
    }

    /**
     * Streams files through a few chunks of device memory.
     *
     * <p><b>Result:</b> what the publishers of {@code use} emit, in the order of the chunks: {@code use} is called for
     * one chunk at a time, when its bytes are there, while the next are being read.
     *
     * <p><b>Threading:</b> {@code use} runs on the delivery scheduler with the subscriber's context, and may return
     * a publisher that completes elsewhere.
     *
     * <p><b>Errors:</b> those of opening, reading and of {@code use}; all leases end first.
     *
     * <p><b>Cancellation:</b> cancels the publisher in use and the reads ahead; the memory is given back when the
     * device has let go.
     */
    <T> Flux<T> stream(StreamPlan plan, Function<? super Chunk, ? extends Publisher<? extends T>> use);

    /**
     * Writes what {@code fill} puts into chunks of device memory to a file, one behind the other.
     *
     * <p>{@code fill} is called for one chunk at a time, while earlier ones are being written. The number that its
     * publisher emits is how many bytes of the chunk count; nothing or 0 ends the write.
     *
     * <p><b>Result:</b> the bytes written, once all writes have ended (and are durable, with {@link WritePlan#sync}).
     *
     * <p><b>Errors:</b> those of opening, writing and of {@code fill}; an {@link IndexOutOfBoundsException} if a number
     * exceeds the chunk. What was written before stays in the file.
     *
     * <p><b>Cancellation:</b> as {@link #stream}; writes in flight may still land.
     */
    Mono<Long> write(WritePlan plan, Function<? super Chunk, ? extends Publisher<Long>> fill);

    /** Returns what {@code transfer} would do, without doing it. */
    Explanation explain(Transfer transfer);

    /**
     * Refuses new work, waits for what is in flight, at most {@link CommonOptions#CLOSE_TIMEOUT}, then frees what
     * this backend opened. What did not end in time gets its {@link ClosedException} with outcome UNKNOWN, is reported
     * in the log, and its memory is <em>not</em> freed (rule 601). A second call does nothing.
     *
     * @throws IllegalStateException on a lane or another thread that must not block; use {@link #closeLater()}
     */
    @Override
    void close();

    /** Does what {@link #close()} does, without blocking; completes when it is done. */
    Mono<Void> closeLater();
}
