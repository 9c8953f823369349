// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Moves data between files and one device.
 *
 * <p><b>Threading:</b> thread-safe. Publishers are lazy, {@code subscribe} never blocks, and nothing completes inside
 * {@code subscribe}. Signals are delivered on the scheduler of {@link CommonOptions#DELIVERY}. The Reactor context is
 * preserved.
 *
 * <p><b>Errors:</b> caller bugs (a negative offset, a buffer of another backend) are JDK exceptions, thrown at once;
 * everything else is signalled, as a {@link PenstockException} or, when opening a file, an {@link java.io.IOException}.
 *
 * <p><b>Ownership:</b> the caller that opened the backend closes it; this closes the files and buffers that are still
 * open.
 */
public interface Backend extends AutoCloseable {

    /** Returns the provider's name, for example {@code host}. */
    String name();

    /**
     * Returns by what means it moves bytes, as logged when it was opened: io_uring for example, or blocking calls, and
     * then why, and the remedy. Empty if that is not known.
     */
    default String means() {
        return "";
    }

    /** Returns whether the system has refused the means that it prefers: {@link #means} has the reason. */
    default boolean isFallback() {
        return false;
    }

    /** Returns what this backend can do. */
    Capabilities capabilities();

    /**
     * Opens a file.
     *
     * <p><b>Result:</b> the file, to be closed by the caller; {@link #withFile} does both.
     *
     * <p><b>Errors:</b> {@link java.nio.file.NoSuchFileException}, {@link java.nio.file.AccessDeniedException},
     * {@link java.nio.file.FileAlreadyExistsException}, {@link java.nio.file.FileSystemException} with the native
     * error; {@link IllegalArgumentException} at once for options that contradict each other.
     *
     * <p><b>Cancellation:</b> at any moment; a file that has not reached the subscriber is closed.
     */
    Mono<StorageFile> openFile(Path path, FileOption... options);

    /**
     * Opens a file by its URI: {@code file:}, or a file on another host, for which a module is on the class path or
     * module path: {@code https:} and {@code http:} by {@code penstock-remote-http}, {@code s3:} by
     * {@code penstock-remote-s3}, {@code ucx:} by {@code penstock-remote-ucx}.
     *
     * <p>{@code openFile(Path.of(uri))} does the same where a module has made the scheme known to
     * {@code java.nio.file}, as the first two do.
     *
     * <p>A file on another host is read by ranges, many at a time, into host memory, and from there moved to the
     * device: {@link TransferPath#REMOTE}. It can be read into buffers, not into images. If it changes on its host
     * while it is open, transfers fail with {@link PermanentStorageException}, and no transfer returns bytes of two
     * versions. What another process exports by {@code ucx:} has no versions: it is read as it is.
     *
     * <p><b>Result:</b> the file, to be closed by the caller.
     *
     * <p><b>Errors:</b> as {@link #openFile(Path, FileOption...)}; an {@link java.io.IOException} with the answer of
     * the host; {@link java.nio.file.ProviderNotFoundException} if no module opens such URIs;
     * {@link IllegalArgumentException} at once for a URI without a scheme, and for options that the module does not
     * have: {@code http:} has READ and IMMUTABLE.
     *
     * <p><b>Cancellation:</b> at any moment; a file that has not reached the subscriber is closed.
     */
    Mono<StorageFile> openFile(URI uri, FileOption... options);

    /** Opens a file, runs {@code use}, and closes the file when its Mono terminates or is cancelled. */
    default <T> Mono<T> withFile(Path path, FileOption option, Function<? super StorageFile, ? extends Mono<T>> use) {
        return withFile(path, new FileOption[] {option}, use);
    }

    /**
     * Opens a file, runs {@code use}, and closes the file when its Mono terminates or is cancelled.
     *
     * <p><b>Result:</b> the result of {@code use}, once the file is closed.
     *
     * <p><b>Cancellation:</b> at any moment: cancels the opening, or the Mono of {@code use}, and closes the file.
     */
    default <T> Mono<T> withFile(
            Path path, FileOption[] options, Function<? super StorageFile, ? extends Mono<T>> use) {
        return MonoWith.of(openFile(path, options), use);
    }

    /**
     * Allocates device memory. Contents are undefined.
     *
     * <p><b>Cost:</b> buffers of up to 64 MiB are pooled by size class, and of larger ones a few are kept when they are
     * closed: memory that was used before costs a few microseconds. The first use of other memory is dear, as the system
     * fills each page with zeros, or the driver maps it: keep a large buffer and use it again.
     *
     * <p><b>Result:</b> the buffer, to be closed by the caller; {@link #withBuffer} does both.
     *
     * <p><b>Errors:</b> {@link TransientStorageException} if the device has no memory left;
     * {@link IllegalArgumentException} at once if {@code bytes} is negative.
     *
     * <p><b>Cancellation:</b> at any moment; a buffer that has not reached the subscriber is closed.
     */
    Mono<DeviceBuffer> allocate(long bytes);

    /** Allocates a buffer, runs {@code use}, and closes the buffer when its Mono terminates or is cancelled. */
    default <T> Mono<T> withBuffer(long bytes, Function<? super DeviceBuffer, ? extends Mono<T>> use) {
        return MonoWith.of(allocate(bytes), use);
    }

    /**
     * Opens a resource, runs {@code use}, and closes the resource when its Mono terminates or is cancelled: a file of a
     * URI, a fence, the arrays of a model. Unlike {@link Mono#usingWhen} it also closes a resource that arrives while
     * the subscriber cancels.
     *
     * <p><b>Result:</b> the result of {@code use}, once the resource is closed.
     *
     * <p><b>Cancellation:</b> at any moment: cancels the opening, or the Mono of {@code use}, and closes the resource.
     *
     * @param opening emits a resource that its subscriber closes
     */
    static <R extends AutoCloseable, T> Mono<T> using(Mono<R> opening, Function<? super R, ? extends Mono<T>> use) {
        return MonoWith.of(opening, use);
    }

    /**
     * Opens device memory that another process of this host exports, by {@link PeerExport#uri}, without a copy. Both
     * processes access the same bytes; they coordinate that themselves.
     *
     * <p><b>Result:</b> a buffer of the exported length, to be closed by the caller; at the latest when
     * {@link DeviceBuffer#revoked()} completes, since the exporter keeps the memory until then. It cannot be exported
     * again.
     *
     * <p><b>Errors:</b> {@link PermanentStorageException} if the export has ended, is one of this process, or is of
     * a device that this backend's does not reach; {@link IllegalArgumentException} at once if this backend does not
     * open such URIs.
     *
     * <p><b>Cancellation:</b> at any moment; a buffer that has not reached the subscriber is closed.
     */
    Mono<DeviceBuffer> openBuffer(URI uri);

    /**
     * Wraps memory that the application owns. It must stay valid until the buffer is closed and its transfers have
     * ended.
     *
     * @param nativeHandle the device's own handle or address
     * @param bytes the length of that memory
     * @throws IllegalArgumentException if the handle is unknown to the device, or its alignment is insufficient
     */
    DeviceBuffer wrap(long nativeHandle, long bytes);

    /**
     * Wraps the memory of a direct ByteBuffer, from its position to its limit. The ByteBuffer stays referenced until
     * the buffer is closed and its transfers have ended.
     *
     * @throws IllegalArgumentException if the ByteBuffer is not direct, is read-only, or the device cannot address host
     *     memory
     */
    DeviceBuffer wrap(ByteBuffer memory);

    /**
     * Moves the bytes of one transfer; each subscription moves them once.
     *
     * <p><b>Result:</b> the completion.
     *
     * <p><b>Errors:</b> any {@link PenstockException}, with {@link PenstockException#outcome()}, once all segments of
     * the transfer have ended. {@link IllegalArgumentException} at once if a buffer belongs to another backend, if a
     * file was not opened for this direction, or if the device does not support the kind of target.
     *
     * <p><b>Cancellation:</b> asks the device to stop and drops the result. File and buffer stay pinned until the
     * device has released them; a later transfer that overlaps waits until then (rules 201, 205).
     */
    Mono<Completion> submit(Transfer transfer);

    /** Moves many transfers with {@link SubmitOptions#DEFAULT}. */
    default Flux<Completion> submit(Publisher<Transfer> transfers) {
        return submit(transfers, SubmitOptions.DEFAULT);
    }

    /**
     * Moves many transfers, pipelined.
     *
     * <p><b>Result:</b> one completion per transfer. Backpressure is honoured: at most {@code options.inFlight()}
     * transfers are requested from the publisher beyond the demand of the subscriber.
     *
     * <p><b>Errors:</b> the errors of a single transfer and of the publisher; handled as {@code options.errors()}
     * specifies.
     *
     * <p><b>Cancellation:</b> as for a single transfer, for all transfers in flight.
     */
    Flux<Completion> submit(Publisher<Transfer> transfers, SubmitOptions options);

    /**
     * Enqueues a transfer in the device's own order.
     *
     * <p><b>Result:</b> a fence behind the transfer, as soon as other work may wait on it; see
     * {@link Capabilities#fences()}. The caller closes it.
     *
     * <p><b>Errors:</b> errors that occur before the fence is emitted; later ones are signalled by
     * {@link DeviceFence#outcome()}.
     *
     * <p><b>Cancellation:</b> until the fence has reached the subscriber: asks the device to stop, and closes the
     * fence.
     */
    Mono<DeviceFence> enqueue(Transfer transfer);

    /**
     * Imports a CUevent, cl_event, GLsync, D3D11 query or fence of the application, for {@link Transfer#after} and
     * {@link Chunk#releaseAfter}. The application keeps ownership.
     *
     * @throws IllegalArgumentException if this device has no native fences
     */
    DeviceFence fence(long nativeEvent);

    /**
     * Returns whether {@code address}, which may be any pointer, lies in device memory that
     * {@link DeviceBuffer#exportPeer} can export. False for host memory.
     */
    default boolean isDeviceAddress(long address) {
        return false;
    }

    /**
     * Streams files through a few chunks of device memory.
     *
     * <p><b>Result:</b> what the publishers of {@code use} emit, in the order of the chunks. {@code use} is called for
     * one chunk at a time, once its bytes have been read, while the next chunks are being read.
     *
     * <p><b>Threading:</b> {@code use} runs on the delivery scheduler with the subscriber's context, and may return a
     * publisher that completes elsewhere.
     *
     * <p><b>Errors:</b> the errors of opening, of reading and of {@code use}, signalled once all leases have ended;
     * {@link PermanentStorageException} if the file that the plan names becomes shorter meanwhile, behind the chunks that
     * were there.
     *
     * <p><b>Cancellation:</b> cancels the current publisher and the reads ahead; the memory is freed when the device
     * has released it.
     */
    <T> Flux<T> stream(StreamPlan plan, Function<? super Chunk, ? extends Publisher<? extends T>> use);

    /**
     * Writes chunks of device memory, which {@code fill} fills, to a file, one after the other.
     *
     * <p>{@code fill} is called for one chunk at a time, while earlier ones are being written. Its publisher emits the
     * number of bytes of the chunk to write; an empty publisher or 0 ends the write.
     *
     * <p><b>Result:</b> the bytes written, once all writes have ended (and are durable, with {@link WritePlan#sync}),
     * and a file that the plan has opened is closed.
     *
     * <p><b>Errors:</b> the errors of opening, of writing, of {@code fill}, and of closing a file that the plan has
     * opened; an {@link IndexOutOfBoundsException} if that number exceeds the chunk. What was written before stays in
     * the file.
     *
     * <p><b>Cancellation:</b> as for {@link #stream}; writes in flight may still take effect.
     */
    Mono<Long> write(WritePlan plan, Function<? super Chunk, ? extends Publisher<Long>> fill);

    /** Reads many small files, packed, with {@link Pack.Plan#DEFAULT}. */
    default Flux<Pack> pack(Publisher<Path> paths) {
        return pack(paths, Pack.Plan.DEFAULT);
    }

    /**
     * Reads many small files of this machine as a whole, one behind the other into buffers of device memory. Their sizes
     * need not be known: each is opened, sized, read and closed, many at a time, on Linux by io_uring on one thread of
     * the subscription. For a device that the processor cannot address, a pack is filled in host memory, and is one copy.
     *
     * <p><b>Result:</b> packs, and entries in them, in the order of the paths. A pack is emitted when the next file does
     * not fit, or the paths have ended. A file that cannot be read is an entry with an error: of the same types as the
     * errors of {@link #openFile(Path, FileOption...)}; {@link PermanentStorageException} for a file that becomes shorter
     * meanwhile, and for one that has more bytes than a pack, which is to be streamed, or read with larger packs. Bytes
     * that are appended while the file is read are left out. Named pipes and devices are refused, and not waited for.
     *
     * <p><b>Threading:</b> {@code paths} is subscribed to with the subscriber's context; its demand comes from the
     * thread of the subscription, which may block. It requests paths ahead: for two times the files in flight.
     *
     * <p><b>Backpressure:</b> a pack is begun when it is requested and fewer than {@code plan.depth()} are open.
     *
     * <p><b>Errors:</b> an error of {@code paths}, behind the pack of the paths that came before it; the errors of
     * allocating, and of copying to the device; {@link ClosedException} if the backend is closed.
     *
     * <p><b>Cancellation:</b> at any moment: cancels {@code paths}, closes all files, and frees packs that have not
     * reached the subscriber, as soon as calls in flight have returned.
     *
     * <p><b>Ownership:</b> the subscriber closes each pack. Operators that queue elements drop them when they are
     * cancelled: use {@code concatMap} or {@code flatMap} and close a pack there.
     */
    Flux<Pack> pack(Publisher<Path> paths, Pack.Plan plan);

    /**
     * Writes the files of packs, of this backend or of the application's own buffers, to this machine: the entries
     * without an error, each to its path. A file appears as a whole or not at all.
     *
     * <p><b>Result:</b> the entries of the packs, in the order of each pack; an entry has the error for which its file was not
     * written, or was not read before.
     *
     * <p><b>Threading:</b> files are written by blocking calls on threads for files, some for each pack: the kernel
     * creates none otherwise. Two packs are requested at a time.
     *
     * <p><b>Errors:</b> the errors of {@code packs}; of copying from the device; of a folder that cannot be synced.
     *
     * <p><b>Cancellation:</b> at any moment: no file is begun any more. A file that is being written stays, as a whole,
     * or does not.
     *
     * <p><b>Ownership:</b> each pack is closed when it is written, also after a cancel.
     */
    Flux<Pack.Entry> unpack(Publisher<? extends Pack> packs, Pack.Writing how);

    /**
     * Reads a file into the heap, as {@link #read(StreamPlan)} does, in pieces of at most 256 KiB, a few of them ahead.
     */
    default Flux<ByteBuffer> read(Path path) {
        return read(StreamPlan.of(path).chunkBytes(HeapBytes.CHUNK_BYTES));
    }

    /**
     * Streams files into the heap: for code that wants bytes and no device memory.
     *
     * <p><b>Result:</b> one ByteBuffer per chunk, from position 0 to its limit, a copy that the subscriber owns. Chunks
     * are read ahead as {@link #stream} does; the next one is copied when it is requested.
     *
     * <p><b>Errors:</b> the errors of {@link #stream}; {@link IllegalArgumentException} at once if a chunk does not fit a
     * ByteBuffer.
     *
     * <p><b>Cancellation:</b> as for {@link #stream}.
     */
    default Flux<ByteBuffer> read(StreamPlan plan) {
        return HeapBytes.read(this, plan);
    }

    /**
     * Emits the lines of a text in UTF-8, as {@link #lines(Path, Charset)} does.
     */
    default Flux<String> lines(Path path) {
        return lines(path, StandardCharsets.UTF_8);
    }

    /**
     * Emits the lines of a text, without their ends: {@code \n}, {@code \r} or {@code \r\n}. A line must fit into memory.
     *
     * <p><b>Errors:</b> the errors of {@link #read(Path)}; {@link java.nio.charset.CharacterCodingException} if bytes are no
     * text in the charset.
     */
    default Flux<String> lines(Path path, Charset charset) {
        Objects.requireNonNull(charset, "charset");
        return Flux.defer(() -> new Lines(charset).of(read(path)));
    }

    /**
     * Writes a file out of the heap, as {@link #write(WritePlan, Flux)} does. The file is created, or truncated; it is
     * durable when the Mono completes.
     */
    default Mono<Long> write(Path path, Flux<ByteBuffer> bytes) {
        return write(WritePlan.to(path).chunkBytes(HeapBytes.CHUNK_BYTES).sync(), bytes);
    }

    /**
     * Writes the ByteBuffers of a publisher to a file, one after the other, packed into chunks: each from its position
     * to its limit. Chunks are written while the next one is filled.
     *
     * <p><b>Result:</b> the bytes written, as of {@link #write(WritePlan, Function)}.
     *
     * <p><b>Threading:</b> {@code bytes} is subscribed to once the file is open and a chunk is free, with the
     * subscriber's context. One ByteBuffer is requested at a time, after the last one has been copied: it may be reused
     * then. Its position does not move.
     *
     * <p><b>Errors:</b> the errors of opening and writing, which cancel {@code bytes}; the errors of {@code bytes};
     * {@link IndexOutOfBoundsException} if {@code bytes} has more bytes than the region of the plan. What was written
     * before stays in the file.
     *
     * <p><b>Cancellation:</b> cancels {@code bytes}; writes in flight may still take effect.
     */
    default Mono<Long> write(WritePlan plan, Flux<ByteBuffer> bytes) {
        return HeapBytes.write(this, plan, bytes);
    }

    /**
     * Notifies a listener of the transfers that begin from now on, until the result is disposed of: of those that
     * have begun by then, still of their end.
     */
    Disposable listen(TransferListener listener);

    /**
     * What a backend holds and does at one moment, for gauges; see {@link #counters}. While transfers begin and end,
     * the numbers may be of slightly different moments.
     *
     * @param inFlight transfers whose native operations have not all ended, cancelled ones included, and calls that
     *     open a file or allocate memory
     * @param files files that are open, or closed and still in use
     * @param buffers buffers that are open, or closed and still in use
     * @param pins how many times transfers, leases and views use those files and buffers
     * @param stagingBuffers the staging buffers of the backend's I/O queues, which other backends of the process may
     *     share
     * @param stagingBuffersInUse how many of them native requests hold or have reserved
     * @param fallbacks transfers that did not take the path that the backend prefers, since it was opened
     */
    record Counters(
            int inFlight,
            int files,
            int buffers,
            long pins,
            int stagingBuffers,
            int stagingBuffersInUse,
            long fallbacks) {}

    /** Returns what the backend holds and does now. Does not block; meant for once a second, not for each transfer. */
    Counters counters();

    /** What a staging buffer is used for at one moment; see {@link #stagingStates}. */
    enum StagingState {
        /** For nothing. */
        FREE,
        /** A file is being read into it. */
        FILLING,
        /**
         * Its copy to or from the device has yet to be started: the calls to the device are being made, or wait for
         * their thread.
         */
        COPYING,
        /** The device copies: the staging buffer waits for the fence behind the copy. */
        FENCED,
        /** It is being written to a file. */
        DRAINING
    }

    /**
     * Returns what the staging buffers of the backend's I/O queues are used for now. Does not block, and costs
     * transfers nothing; meant for a picture of a pipeline at work. While it is taken, the states may be of slightly
     * different moments.
     *
     * <p><b>Result:</b> a list for each I/O queue that has staging buffers, which other backends of the process may
     * share; a staging buffer keeps its place in it. Empty if there are none, or not yet.
     */
    List<List<StagingState>> stagingStates();

    /** Returns this backend for code that blocks, or that uses {@link java.util.concurrent.CompletableFuture}. */
    default BlockingBackend blocking() {
        return new BlockingBackend(this);
    }

    /** Returns what {@code transfer} would do, without doing it. */
    Explanation explain(Transfer transfer);

    /**
     * Refuses new work, waits at most {@link CommonOptions#CLOSE_TIMEOUT} for transfers in flight, then frees what
     * this backend opened. A transfer that has not ended by then fails with {@link ClosedException} and outcome
     * UNKNOWN, is logged, and its memory is <em>not</em> freed (rule 601). A second call does nothing.
     *
     * @throws IllegalStateException if called on an I/O queue or another thread that must not block; use
     *     {@link #closeLater()}
     */
    @Override
    void close();

    /** Closes as {@link #close()} does, without blocking. Completes when the backend is closed. */
    Mono<Void> closeLater();
}
