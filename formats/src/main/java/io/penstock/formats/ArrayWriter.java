// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.file.PartFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Writes arrays from memory of a device to files: checkpoints. Immutable.
 *
 * <p>A file is written under a hidden name in the directory of its target, made durable, and moved over the target: at
 * any moment the target is what it was before, or complete. After an error or a cancel the hidden file is deleted. If the
 * target is a symbolic link, it stays one: the file that it refers to is replaced, or created.
 */
public final class ArrayWriter {

    private static final long TRANSFER_BYTES = 64L << 20;
    private static final SubmitOptions SUBMIT = SubmitOptions.DEFAULT.inFlight(16);

    private final Backend backend;
    private final Map<String, String> attributes;

    private ArrayWriter(Backend backend, Map<String, String> attributes) {
        this.backend = Objects.requireNonNull(backend, "backend");
        this.attributes = attributes;
    }

    /** Returns a writer of arrays in that backend's memory. */
    public static ArrayWriter of(Backend backend) {
        return new ArrayWriter(backend, Map.of());
    }

    /** Returns this writer, which writes these metadata where the format has a place for them. */
    public ArrayWriter attributes(Map<String, String> texts) {
        return new ArrayWriter(backend, Collections.unmodifiableMap(new LinkedHashMap<>(texts)));
    }

    /**
     * Writes arrays to a safetensors file: those with large elements first, as the reference implementation does, so
     * that each is aligned to its elements.
     *
     * <p><b>Result:</b> the length of the file, once it is durable and has its name.
     *
     * <p><b>Errors:</b> {@link IllegalArgumentException} at once if safetensors does not have the type, byte order or
     * order of an array, or two have the same name; {@link java.io.IOException} of the file, and the errors of
     * {@link Backend#submit}.
     *
     * <p><b>Cancellation:</b> at any moment: the hidden file is deleted, or the target was replaced already.
     */
    public Mono<Long> safetensors(Path target, List<DeviceArray> arrays) {
        List<DeviceArray> sorted = new ArrayList<>(arrays);
        sorted.sort(Comparator.comparingInt(ArrayWriter::alignment).reversed().thenComparing(DeviceArray::name));
        return write(target, ArrayHeaders.safetensors(attributes, sorted), sorted);
    }

    /**
     * Writes an array to a {@code .npy} file, in its own byte order and order; result, errors and cancellation as of
     * {@link #safetensors}.
     */
    public Mono<Long> npy(Path target, DeviceArray array) {
        return write(target, ArrayHeaders.npy(array), List.of(array));
    }

    private static int alignment(DeviceArray array) {
        return array.type().blockElements() == 1 ? array.type().blockBytes() : 0;
    }

    private Mono<Long> write(Path target, ByteBuffer header, List<DeviceArray> arrays) {
        long length = arrays.stream().mapToLong(DeviceArray::bytes).reduce(header.remaining(), Math::addExact);
        return PartFile.write(
                target,
                header,
                part -> backend.withFile(
                                part,
                                FileOption.WRITE,
                                file -> backend.submit(
                                                Flux.fromIterable(transfers(file, header.remaining(), arrays)), SUBMIT)
                                        .then(file.sync()))
                        .thenReturn(length));
    }

    private static List<Transfer> transfers(StorageFile file, long start, List<DeviceArray> arrays) {
        List<Transfer> transfers = new ArrayList<>();
        List<Transfer> open = new ArrayList<>();
        long openBytes = 0;
        long at = start;
        for (DeviceArray array : arrays) {
            BufferRegion region = array.region();
            for (long done = 0; done < region.length(); ) {
                long bytes = Math.min(TRANSFER_BYTES - openBytes, region.length() - done);
                open.add(Transfer.write(region.slice(done, bytes), file.region(at, bytes)));
                openBytes += bytes;
                done += bytes;
                at += bytes;
                if (openBytes == TRANSFER_BYTES) {
                    transfers.add(joined(open));
                    open.clear();
                    openBytes = 0;
                }
            }
        }
        if (!open.isEmpty()) {
            transfers.add(joined(open));
        }
        return transfers;
    }

    private static Transfer joined(List<Transfer> pairs) {
        return pairs.size() == 1 ? pairs.get(0) : pairs.get(0).and(pairs.subList(1, pairs.size()));
    }
}
