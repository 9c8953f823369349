// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.HostView;
import io.penstock.Pack;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.file.FirstError;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.LoadedArrays;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Reads regions into arrays of the heap, in pieces, of which several are in flight. */
final class HeapReader extends ContentReader {

    private static final int PIECE_BYTES = 1 << 20;
    private static final int PIECES = 8;
    private static final int ENTRY_BYTES = 64; // that a pack may need for a file beside its bytes

    private record Piece(Region region, long offset, ByteBuffer target) {}

    HeapReader(TransferMetric.Values metrics, FileTimes times) {
        super(metrics, times, ExecutorBackend.Lease::host);
    }

    /** Reads contiguous regions of one file, several files that are small, or one array that lies in chunks. */
    List<byte[]> read(List<Region> regions) throws IOException {
        Region first = regions.get(0);
        if (regions.size() > 1 && !regions.get(1).path().equals(first.path())) {
            return readFiles(regions);
        }
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

    /** Reads files as a whole, packed; one that is not as it was when the query was planned is read by itself. */
    private List<byte[]> readFiles(List<Region> files) throws IOException {
        long room = 0;
        long largest = 1;
        for (Region file : files) {
            room += file.length() + ENTRY_BYTES;
            largest = Math.max(largest, file.length());
        }
        long packBytes = Math.min(
                Math.min((long) PIECES * PIECE_BYTES, room), lease.budget().bytes());
        Pack.Plan plan =
                Pack.Plan.DEFAULT.packBytes(Math.max(largest, packBytes)).depth(1);
        Disposable.Composite permit = Disposables.composite();
        Map<Integer, byte[]> heap = new HashMap<>(); // by the index of the file
        try {
            Flux<Path> paths = Flux.fromIterable(files).map(file -> Path.of(file.path()));
            Mono<Integer> read = backend.pack(paths, plan).reduce(0, (from, pack) -> unpack(pack, files, from, heap));
            granted(
                    files.get(0),
                    packBytes,
                    permit::add,
                    () -> Objects.requireNonNull(backend.blocking().await(read)));
        } finally {
            permit.dispose();
        }
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < files.size(); i++) {
            byte[] content = heap.get(i);
            if (content == null) {
                content = read(files.subList(i, i + 1)).get(0); // which finds what is wrong
            } else {
                times.check(files.get(i).path()); // after the read: the file may have been written during it
            }
            all.add(content);
        }
        return all;
    }

    private int unpack(Pack pack, List<Region> files, int from, Map<Integer, byte[]> heap) {
        try (pack) {
            HostView view = pack.buffer().hostView().orElseThrow();
            int at = from;
            for (Pack.Entry entry : pack.entries()) {
                int length = (int) files.get(at).length();
                if (entry.error() == null && entry.length() >= length) {
                    byte[] content = new byte[length];
                    view.read(entry.offset(), ByteBuffer.wrap(content));
                    heap.put(at, content);
                    metrics.moved(TransferPath.HOST, length);
                }
                at++;
            }
            return at;
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
