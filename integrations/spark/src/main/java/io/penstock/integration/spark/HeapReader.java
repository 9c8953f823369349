// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.file.FirstError;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.LoadedArrays;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Reads regions into arrays of the heap, in pieces, of which several are in flight. */
final class HeapReader extends ContentReader {

    private static final int PIECE_BYTES = 1 << 20;
    private static final int PIECES = 8;

    private record Piece(Region region, long offset, ByteBuffer target) {}

    HeapReader(TransferMetric.Values metrics, FileTimes times) {
        super(metrics, times, ExecutorBackend.Lease::host);
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
        Disposable.Composite permit = Disposables.composite();
        try {
            return granted(first, Math.min(bytes, lease.budget().bytes()), permit::add, () -> {
                if (first.isContiguous()) {
                    read(first, pieces);
                    times.check(first.path()); // after the read: the file may have been written during it
                } else {
                    decode(first, heap.get(0));
                }
                return heap;
            });
        } finally {
            permit.dispose();
        }
    }

    private static long sum(List<Region> regions) {
        return regions.stream().mapToLong(Region::length).sum();
    }

    private void read(Region first, List<Piece> pieces) throws IOException, InterruptedException {
        StorageFile open = file(first);
        backend.blocking().await(FirstError.of(Flux.fromIterable(pieces).map(piece -> read(open, piece)), PIECES));
    }

    private Mono<Completion> read(StorageFile from, Piece piece) {
        int length = piece.target.remaining();
        return backend.withBuffer(
                length,
                buffer -> backend.submit(Transfer.read(from.region(piece.offset, length), buffer.all()))
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

    private void decode(Region region, byte[] target) throws IOException, InterruptedException {
        try (LoadedArrays loaded = load(region)) {
            DeviceArray found = loaded.arrays().get(0);
            found.region().buffer().hostView().orElseThrow().read(found.region().offset(), ByteBuffer.wrap(target));
        }
    }
}
