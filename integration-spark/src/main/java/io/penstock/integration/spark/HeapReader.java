// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reads regions into arrays of the heap, in pieces, of which several are in flight.
 *
 * <p><b>Threading:</b> blocks; an interrupt cancels what is in flight. For one thread at a time.
 *
 * <p><b>Ownership:</b> holds a lease on the backend, and the file that was read last, until it is closed.
 */
final class HeapReader implements AutoCloseable {

    private static final int PIECE_BYTES = 1 << 20;
    private static final int PIECES = 8;

    private record Piece(Region region, long offset, ByteBuffer target) {}

    private final TransferMetric.Values metrics;
    private final FileTimes times;
    private final ExecutorBackend.Lease lease = ExecutorBackend.lease();
    private final LastFile files = new LastFile(lease.host());

    HeapReader(TransferMetric.Values metrics, FileTimes times) {
        this.metrics = metrics;
        this.times = times;
    }

    /** Reads contiguous regions of one file, or one array that lies in chunks. */
    List<byte[]> read(List<Region> regions) throws IOException {
        Region first = regions.get(0);
        List<Piece> pieces = new ArrayList<>();
        List<byte[]> heap = new ArrayList<>();
        for (Region region : regions) {
            byte[] target = new byte[(int) region.length()];
            heap.add(target);
            for (int start = 0; start < target.length && start >= 0; start += PIECE_BYTES) {
                int length = Math.min(PIECE_BYTES, target.length - start);
                pieces.add(new Piece(region, region.offset() + start, ByteBuffer.wrap(target, start, length)));
            }
        }
        long bytes = first.isContiguous() ? Math.min((long) PIECES * PIECE_BYTES, sum(regions)) : first.length();
        try {
            long started = System.nanoTime();
            Disposable permit =
                    lease.budget().acquire(Math.min(bytes, lease.budget().bytes()));
            try {
                long granted = System.nanoTime();
                metrics.waited(granted - started);
                if (first.isContiguous()) {
                    read(first, pieces);
                    times.check(first.path()); // after the read: the file may have been written during it
                } else {
                    load(first, heap.get(0));
                }
                metrics.read(System.nanoTime() - granted);
            } finally {
                permit.dispose();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("reading " + first + " was interrupted").initCause(e);
        }
        return heap;
    }

    private static long sum(List<Region> regions) {
        return regions.stream().mapToLong(Region::length).sum();
    }

    private void read(Region first, List<Piece> pieces) throws IOException, InterruptedException {
        StorageFile open = files.of(first);
        lease.host()
                .blocking()
                .await(Flux.fromIterable(pieces)
                        .flatMap(piece -> read(open, piece), PIECES)
                        .then());
    }

    private Mono<Completion> read(StorageFile from, Piece piece) {
        int length = piece.target.remaining();
        return lease.host()
                .withBuffer(
                        length,
                        buffer -> lease.host()
                                .submit(Transfer.read(from.region(piece.offset, length), buffer.all()))
                                .flatMap(completion -> copy(completion, buffer, piece)));
    }

    private Mono<Completion> copy(Completion completion, DeviceBuffer buffer, Piece piece) {
        if (completion.bytes() < buffer.length()) {
            return Mono.error(
                    new EOFException("the file became shorter than when the query was planned: " + piece.region));
        }
        buffer.hostView().orElseThrow().read(0, piece.target);
        metrics.moved(completion.path(), completion.bytes());
        return Mono.just(completion);
    }

    /** Loads an array that lies in chunks, which are decoded. */
    private void load(Region region, byte[] target) throws IOException, InterruptedException {
        try (LoadedArrays loaded = Objects.requireNonNull(
                lease.host().blocking().await(Loader.of(lease.host()).load(files.arrayOf(region))))) {
            DeviceArray found = loaded.arrays().get(0);
            found.region().buffer().hostView().orElseThrow().read(found.region().offset(), ByteBuffer.wrap(target));
            metrics.moved(TransferPath.HOST, target.length);
        }
    }

    @Override
    public void close() {
        files.close();
        lease.close();
    }
}
