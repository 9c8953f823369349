// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.NativeError;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An object that is written by parts, several of which are uploaded at the same time. It exists, as a whole, once a
 * sync has ended; a close without a sync leaves nothing on the server.
 *
 * <p>A write of a whole part is uploaded from its own memory. Smaller writes are collected; the write that completes a
 * part ends when the part is uploaded. After a failure a part must be written again as a whole.
 */
final class S3Upload implements AsyncFile {

    private static final Logger LOG = LoggerFactory.getLogger(S3Upload.class);

    private static final int MOST_PARTS = 10_000; // S3's limit
    private static final int MOST_COLLECTED = 64;
    private static final long UNIT_BYTES = 1L << 20; // of parts that are sized here
    private static final long MOST_PART_BYTES = 1L << 30; // of penstock.s3.part-bytes
    private static final String FEWER = "an object has at most " + MOST_PARTS
            + " parts of penstock.s3.part-bytes=%d, a larger one allows larger" + " objects";

    private final Multipart requests;
    private final Address address;
    private final Runnable closer;
    private volatile int partBytes; // constant from the first write on
    private final Map<Integer, Part> parts = new HashMap<>(); // by number, from 0; guarded by this, as all below
    private final Deque<ByteBuffer> free = new ArrayDeque<>(); // memory of earlier parts, for reuse
    private int collected; // parts that are being collected
    private long size;
    private boolean making; // set for good when a sync begins to create the object
    private boolean complete;

    private static final class Part {
        @Nullable
        ByteBuffer memory; // null unless it is being collected

        Coverage covered = new Coverage(); // bytes written to memory

        @Nullable
        String etag; // of the uploaded part; null if it was written to since

        final Deque<PartUpload> uploads = new ArrayDeque<>(); // the first is on its way, the others wait for it
    }

    /**
     * An upload of a part.
     *
     * @param own whether the bytes are memory of this file
     */
    private record PartUpload(int number, ByteBuffer bytes, boolean own, Pieces pieces) {}

    /**
     * Creates an upload; does nothing on the server.
     *
     * @param closer called when it is closed
     */
    S3Upload(Multipart requests, Address address, int partBytes, Runnable closer) {
        this.requests = requests;
        this.address = address;
        this.partBytes = partBytes;
        this.closer = closer;
    }

    /** {@inheritDoc} Not possible. */
    @Override
    public Runnable read(long offset, ByteBuffer to, Consumer<@Nullable Throwable> ended) {
        ended.accept(refused("the object cannot be read while it is written"));
        return () -> {};
    }

    @Override
    public Runnable write(long offset, ByteBuffer from, Consumer<@Nullable Throwable> ended) {
        if (offset > MOST_PARTS * (long) partBytes - from.remaining()) { // nothing of it is sent, or counts as size
            ended.accept(refused(FEWER.formatted(partBytes)));
            return () -> {};
        }
        Pieces pieces = new Pieces(ended);
        ByteBuffer rest = from.slice();
        for (long at = offset; rest.hasRemaining(); ) {
            int start = (int) (at % partBytes);
            int bytes = Math.min(partBytes - start, rest.remaining());
            write((int) (at / partBytes), start, rest.slice(rest.position(), bytes), pieces);
            rest.position(rest.position() + bytes);
            at += bytes;
        }
        pieces.ended(null); // pairs with the initial 1 of open
        return pieces::cancel;
    }

    private void write(int number, int start, ByteBuffer bytes, Pieces pieces) {
        pieces.begun();
        ByteBuffer ready;
        try {
            ready = add(number, start, bytes);
        } catch (NativeException e) {
            pieces.ended(e);
            return;
        }
        if (ready == null) {
            pieces.ended(null); // collected
        } else {
            upload(new PartUpload(number, ready, ready != bytes, pieces));
        }
    }

    private Part part(int number) {
        return parts.computeIfAbsent(number, any -> new Part());
    }

    /**
     * Adds bytes to a part.
     *
     * @return what is to be uploaded now: the bytes, if they are the whole part, or what they complete; null if there
     *     is more to come
     */
    private synchronized @Nullable ByteBuffer add(int number, int start, ByteBuffer bytes) throws NativeException {
        if (making) { // the object would not contain it
            throw refused("the object takes no writes since its sync");
        }
        int count = bytes.remaining();
        Part part = part(number);
        if (count < partBytes && part.memory == null) {
            collect(part);
        }
        size = Math.max(size, number * (long) partBytes + start + count);
        part.etag = null;
        if (count == partBytes) {
            drop(part);
            return bytes;
        }
        ByteBuffer memory = Objects.requireNonNull(part.memory);
        memory.duplicate().position(start).put(bytes.duplicate());
        part.covered.add(start, start + count);
        if (!part.covered.isUpTo(partBytes)) {
            return null;
        }
        part.memory = null; // later writes must not change the memory during the upload
        collected--;
        return memory;
    }

    private void collect(Part part) throws NativeException {
        if (collected == MOST_COLLECTED) {
            throw refused(MOST_COLLECTED + " parts are written in pieces at the same time; a part has " + partBytes
                    + " bytes, penstock.s3.part-bytes");
        }
        try {
            part.memory = free.isEmpty() ? ByteBuffer.allocateDirect(partBytes) : free.pop();
        } catch (OutOfMemoryError e) { // an Error would end the I/O queue's thread
            throw refused(
                    NativeFailure.Kind.TRANSIENT,
                    "there is no memory for one more part of penstock.s3.part-bytes=" + partBytes + ": "
                            + e.getMessage());
        }
        part.covered = new Coverage();
        collected++;
    }

    private void drop(Part part) {
        if (part.memory != null) {
            free.push(part.memory);
            part.memory = null;
            collected--;
        }
    }

    /** Uploads a part once no other upload of it is on its way: the server keeps that which comes last to it. */
    private void upload(PartUpload upload) {
        boolean first;
        synchronized (this) {
            Deque<PartUpload> uploads = part(upload.number).uploads;
            first = uploads.isEmpty();
            uploads.add(upload);
        }
        if (first) {
            start(upload);
        } else {
            upload.pieces.cancels(() -> abandon(upload));
        }
    }

    private void start(PartUpload upload) {
        S3Request request = requests.part(upload.number + 1, upload.bytes.duplicate(), (etag, error) -> {
            PartUpload next;
            synchronized (this) {
                Part part = part(upload.number);
                part.uploads.remove();
                next = part.uploads.peek();
                part.etag = error == null && part.memory == null && next == null ? etag : null;
                reuse(upload);
            }
            upload.pieces.ended(error);
            if (next != null) {
                start(next);
            }
        });
        upload.pieces.cancels(request::cancel);
    }

    /** Ends an upload that waits for another. */
    private void abandon(PartUpload upload) {
        synchronized (this) {
            Deque<PartUpload> uploads = part(upload.number).uploads;
            if (uploads.peek() == upload || !uploads.removeIf(waiting -> waiting == upload)) {
                return;
            }
            reuse(upload);
        }
        upload.pieces.ended(new CancellationException());
    }

    private void reuse(PartUpload upload) {
        if (upload.own) {
            free.push(upload.bytes);
        }
    }

    /** The parts that one write belongs to. */
    private static final class Pieces {

        private final Consumer<@Nullable Throwable> ended;
        private final List<Runnable> running = new ArrayList<>(); // their cancels; guarded by this, as all below
        private int open = 1; // pieces in progress, plus one while they are being added
        private @Nullable Throwable failure;
        private boolean cancelled;

        Pieces(Consumer<@Nullable Throwable> ended) {
            this.ended = ended;
        }

        synchronized void begun() {
            open++;
        }

        void cancels(Runnable cancel) {
            synchronized (this) {
                running.add(cancel);
                if (!cancelled) {
                    return;
                }
            }
            cancel.run();
        }

        void ended(@Nullable Throwable error) {
            Throwable first;
            synchronized (this) {
                failure = failure == null ? error : failure;
                first = failure;
                if (--open > 0) {
                    return;
                }
            }
            ended.accept(first);
        }

        void cancel() {
            List<Runnable> all;
            synchronized (this) {
                cancelled = true;
                all = List.copyOf(running);
            }
            all.forEach(Runnable::run);
        }
    }

    /** {@inheritDoc} Uploads what is left, and makes the object. */
    @Override
    public void sync(Consumer<@Nullable NativeFailure> ended) {
        Consumer<@Nullable Throwable> end = error -> ended.accept(error == null ? null : failure(error));
        int count;
        ByteBuffer rest;
        synchronized (this) {
            count = (int) ((size + partBytes - 1) / partBytes);
            int lastBytes = (int) (size - Math.max(0, count - 1) * (long) partBytes);
            long missing = missing(count, lastBytes);
            if (complete || missing >= 0) {
                end.accept(
                        complete
                                ? null
                                : refused("bytes from " + missing + " on were not written, or not all of their part"
                                        + " since: objects have no holes"));
                return;
            }
            making = true;
            Part last = parts.get(count - 1);
            rest = last == null || last.memory == null
                    ? null
                    : last.memory.duplicate().limit(lastBytes);
        }
        if (count == 0 || (count == 1 && rest != null)) {
            requests.put(rest == null ? ByteBuffer.allocate(0) : rest, error -> end.accept(completed(error)));
        } else if (rest == null) {
            complete(count, end);
        } else {
            requests.part(count, rest, (etag, error) -> uploadedLast(count, etag, error, end));
        }
    }

    private void uploadedLast(
            int count, @Nullable String etag, @Nullable Throwable error, Consumer<@Nullable Throwable> end) {
        if (error != null) {
            end.accept(error);
            return;
        }
        synchronized (this) {
            Part last = part(count - 1);
            drop(last);
            last.etag = etag;
        }
        complete(count, end);
    }

    /** Returns the first byte of a part that is not all there; -1 if there is none. */
    private long missing(int count, int lastBytes) {
        for (int number = 0; number < count; number++) {
            Part part = parts.get(number);
            boolean there = part != null
                    && (part.etag != null
                            || (number == count - 1 && part.memory != null && part.covered.isUpTo(lastBytes)));
            if (!there) {
                return number * (long) partBytes;
            }
        }
        return -1;
    }

    private void complete(int count, Consumer<@Nullable Throwable> end) {
        List<String> etags = new ArrayList<>();
        synchronized (this) {
            for (int number = 0; number < count; number++) {
                etags.add(Objects.requireNonNull(part(number).etag, "etag"));
            }
        }
        requests.complete(etags, error -> end.accept(completed(error)));
    }

    private synchronized @Nullable Throwable completed(@Nullable Throwable error) {
        if (error == null) {
            complete = true;
            parts.values().forEach(this::drop);
            free.clear();
        }
        return error;
    }

    private NativeException refused(String why) {
        return refused(NativeFailure.Kind.PERMANENT, why);
    }

    private NativeException refused(NativeFailure.Kind kind, String why) {
        return new NativeException(
                "write of " + address, new NativeFailure(new NativeError("UploadPart", 0, ""), kind, why));
    }

    private static NativeFailure failure(Throwable error) {
        return error instanceof NativeException known
                ? known.failure()
                : new NativeFailure(new NativeError("sync", 0, error.toString()), NativeFailure.Kind.PERMANENT);
    }

    /** {@inheritDoc} A write of a part needs no memory here. */
    @Override
    public Limits limits() {
        return Limits.none(partBytes);
    }

    /**
     * {@inheritDoc} Makes parts so large that an object of so many bytes has not too many; once, before the first write. Each
     * of those bytes must be written until the sync.
     */
    @Override
    public synchronized void preallocate(long bytes) throws IOException {
        long least = (bytes / MOST_PARTS / UNIT_BYTES + 1) * UNIT_BYTES;
        if (bytes > MOST_PARTS * (long) partBytes) {
            if (making || size > 0 || least > MOST_PART_BYTES) {
                throw refused(FEWER.formatted(partBytes));
            }
            partBytes = (int) least;
        }
        size = Math.max(size, bytes);
    }

    /** {@inheritDoc} Where the last byte that was written ends, unless it was preallocated. */
    @Override
    public synchronized long size() {
        return size;
    }

    /** {@inheritDoc} The upload. */
    @Override
    public Object identity() {
        return this;
    }

    /** {@inheritDoc} Removes what was uploaded, unless the object is complete; blocks for that. */
    @Override
    public void close() {
        try {
            requests.abort();
        } catch (IOException e) {
            LOG.warn("parts of {}, which was not completed, remain on the server: {}", address, e.toString());
        } finally {
            closer.run();
        }
    }

    @Override
    public String toString() {
        return address.toString();
    }

    /** Which bytes of a part have been written. Not thread-safe. */
    static final class Coverage {

        private final TreeMap<Integer, Integer> ends = new TreeMap<>(); // by start; apart from each other

        /** Adds some bytes, of which some may be covered already. */
        void add(int from, int to) {
            int start = from;
            int end = to;
            for (Map.Entry<Integer, Integer> near = ends.floorEntry(end);
                    near != null && near.getValue() >= start;
                    near = ends.floorEntry(end)) {
                start = Math.min(start, near.getKey());
                end = Math.max(end, near.getValue());
                ends.remove(near.getKey());
            }
            ends.put(start, end);
        }

        /** Returns whether the bytes up to {@code end} are covered, and none beyond. */
        boolean isUpTo(int end) {
            return ends.equals(Map.of(0, end));
        }
    }
}
