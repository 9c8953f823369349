// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.Pack;
import io.penstock.Transfer;
import io.penstock.formats.load.Batch;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;

/**
 * The small files of a load, such as the chunks of Zarr: read packed, and copied from the packs to their places, since to
 * open each by itself costs several times its reading and the copy.
 *
 * @param batches what is wanted of each file, in the order of the files
 */
record LoadPacks(Map<Path, List<Batch>> batches) {

    private static final int FEWEST_FILES = 16; // worth a thread and a ring
    private static final long MOST_BYTES = 256 << 10; // of a file: a longer one costs more to copy than to open
    private static final int MOST_PIECES = 16_384; // of a transfer

    /** Returns the small files of a load, if they are many: files of which nearly all is wanted, as far as can be told. */
    static LoadPacks of(Map<Path, List<Batch>> all) {
        Map<Path, List<Batch>> small = new LinkedHashMap<>();
        all.forEach((file, batches) -> {
            if (file.getFileSystem() == FileSystems.getDefault() && isSmall(batches)) {
                small.put(file, batches);
            }
        });
        return new LoadPacks(small.size() < FEWEST_FILES ? Map.of() : small);
    }

    private static boolean isSmall(List<Batch> batches) {
        long bytes = 0;
        long end = 0;
        for (Batch batch : batches) {
            for (Batch.Piece piece : batch.pieces()) {
                if (piece.from().count() > 1) {
                    return false; // a gather cannot be one of several pairs
                }
                bytes += piece.bytes();
                end = Math.max(end, piece.from().offset() + piece.bytes());
            }
        }
        return end <= MOST_BYTES && bytes >= end / 2;
    }

    /** A file of a pack, of which all that is wanted is there. */
    private static boolean isWhole(Pack.Entry entry, List<Batch> batches) {
        return entry.error() == null
                && pieces(batches).allMatch(piece -> piece.from().offset() + piece.bytes() <= entry.length());
    }

    private static Stream<Batch.Piece> pieces(List<Batch> batches) {
        return batches.stream().flatMap(batch -> batch.pieces().stream());
    }

    /** What is done with a pack: a few copies, and files that are to be read by themselves, which finds what is wrong. */
    record Step(List<Transfer> copies, Map<Path, List<Batch>> others) {}

    /** Emits a step for each pack; {@code steps} are made one after the other, and the pack is closed behind its own. */
    <T> Flux<T> read(Backend backend, List<DeviceBuffer> targets, Function<Step, ? extends Flux<T>> steps) {
        return backend.pack(Flux.fromIterable(batches.keySet()))
                .concatMap(pack -> Flux.using(() -> pack, open -> steps.apply(step(open, targets)), Pack::close))
                .doOnDiscard(Pack.class, Pack::close);
    }

    private Step step(Pack pack, List<DeviceBuffer> targets) {
        List<Batch.Piece> found = new ArrayList<>();
        Map<Path, List<Batch>> others = new LinkedHashMap<>();
        for (Pack.Entry entry : pack.entries()) {
            List<Batch> wanted = Objects.requireNonNull(batches.get(entry.path()));
            if (isWhole(entry, wanted)) {
                pieces(wanted).map(piece -> in(pack, entry, piece)).forEach(found::add);
            } else {
                others.put(entry.path(), wanted);
            }
        }
        List<Transfer> copies = new ArrayList<>();
        for (int from = 0; from < found.size(); from += MOST_PIECES) {
            List<Batch.Piece> some = found.subList(from, Math.min(from + MOST_PIECES, found.size()));
            copies.add(new Batch(some, false).transfer(pack.buffer().asFile(), targets));
        }
        return new Step(copies, others);
    }

    private static Batch.Piece in(Pack pack, Pack.Entry entry, Batch.Piece piece) {
        long at = entry.offset() + piece.from().offset();
        FileBlocks bytes = new FileBlocks(pack.buffer().asFile().path(), at, piece.bytes(), piece.bytes(), 1);
        return new Batch.Piece(bytes, piece.buffer(), piece.offset());
    }
}
