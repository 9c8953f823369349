// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.file.PartFile;
import io.penstock.formats.read.NpyTypes;
import io.penstock.formats.read.SafetensorsReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Writes arrays from memory of a device to files: checkpoints. Immutable.
 *
 * <p>A file is written under a hidden name in the directory of its target, made durable, and moved over the target: at
 * any moment the target is what it was before, or complete. After an error or a cancel the hidden file is deleted. If
 * the target is a symbolic link, it stays one: the file that it refers to is replaced, or created.
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
     * Writes arrays to a safetensors file: arrays with large elements first, as the reference implementation does, so
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
        return write(target, Headers.safetensors(attributes, sorted), sorted);
    }

    /**
     * Writes an array to a {@code .npy} file, in its own byte order and order; result, errors and cancellation as of
     * {@link #safetensors}.
     */
    public Mono<Long> npy(Path target, DeviceArray array) {
        return write(target, Headers.npy(array), List.of(array));
    }

    private static int alignment(DeviceArray array) {
        return array.type().blockElements() == 1 ? array.type().blockBytes() : 0;
    }

    private Mono<Long> write(Path target, ByteBuffer header, List<DeviceArray> arrays) {
        arrays.forEach(DeviceArray::refuseGaps);
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

    /** The bytes before the data of files that are written. */
    static final class Headers {

        private static final int SAFETENSORS_ALIGNMENT =
                4096; // of the data, so that it can be read past the page cache
        private static final int NPY_ALIGNMENT = 64;
        private static final byte[] NPY_MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
        private static final int MOST_SHORT = 0xffff;

        private Headers() {}

        /** Returns the header of a safetensors file with these arrays in this order. */
        static ByteBuffer safetensors(Map<String, String> attributes, List<DeviceArray> arrays) {
            Set<String> names = new HashSet<>(Set.of("__metadata__"));
            for (DeviceArray array : arrays) {
                require(
                        names.add(array.name()),
                        array,
                        "cannot have that name, which another one has or the format reserves");
                require(SafetensorsReader.has(array.type()), array, "has a type that safetensors does not have");
                require(
                        array.byteOrder() == ByteOrder.LITTLE_ENDIAN && array.order() == Array.Order.ROW_MAJOR,
                        array,
                        "must be little-endian and row-major, as safetensors demands");
            }
            byte[] json;
            try {
                json = json(attributes, arrays);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            int length = roundUp(Long.BYTES + json.length, SAFETENSORS_ALIGNMENT) - Long.BYTES;
            if (length > SafetensorsReader.MOST_HEADER_BYTES) {
                throw new IllegalArgumentException(
                        "a header of " + length + " bytes is longer than safetensors allows");
            }
            ByteBuffer header = ByteBuffer.allocate(Long.BYTES + length).order(ByteOrder.LITTLE_ENDIAN);
            header.putLong(length).put(json);
            while (header.hasRemaining()) {
                header.put((byte) ' ');
            }
            return header.flip();
        }

        private static byte[] json(Map<String, String> attributes, List<DeviceArray> arrays) throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (JsonGenerator json = new JsonFactory().createGenerator(bytes)) {
                json.writeStartObject();
                if (!attributes.isEmpty()) {
                    json.writeObjectFieldStart("__metadata__");
                    for (Map.Entry<String, String> attribute : attributes.entrySet()) {
                        json.writeStringField(attribute.getKey(), attribute.getValue());
                    }
                    json.writeEndObject();
                }
                long end = 0;
                for (DeviceArray array : arrays) {
                    json.writeObjectFieldStart(array.name());
                    json.writeStringField("dtype", array.type().name());
                    numbers(json, "shape", array.shape());
                    numbers(json, "data_offsets", List.of(end, end + array.bytes()));
                    json.writeEndObject();
                    end += array.bytes();
                }
                json.writeEndObject();
            }
            return bytes.toByteArray();
        }

        private static void numbers(JsonGenerator json, String name, List<Long> numbers) throws IOException {
            json.writeArrayFieldStart(name);
            for (long number : numbers) {
                json.writeNumber(number);
            }
            json.writeEndArray();
        }

        /** Returns the header of a .npy file, of version 1 or, if it is long, 2. */
        static ByteBuffer npy(DeviceArray array) {
            String type = NpyTypes.code(array.type());
            if (type == null) {
                throw new IllegalArgumentException("array " + array + " has a type that cannot be written as npy");
            }
            String order = array.type().blockBytes() == 1 ? "|" : array.byteOrder() == ByteOrder.BIG_ENDIAN ? ">" : "<";
            String shape = array.shape().stream().map(extent -> extent + ",").collect(Collectors.joining(" "));
            if (array.shape().size() > 1) {
                shape = shape.substring(0, shape.length() - 1); // Python needs the comma in a tuple of one only
            }
            String text = "{'descr': '" + order + type + "', 'fortran_order': "
                    + (array.order() == Array.Order.COLUMN_MAJOR ? "True" : "False") + ", 'shape': (" + shape + "), }";
            int start = NPY_MAGIC.length + 2 + Short.BYTES;
            boolean isLong = roundUp(start + text.length() + 1, NPY_ALIGNMENT) - start > MOST_SHORT;
            start += isLong ? Integer.BYTES - Short.BYTES : 0;
            int total = roundUp(start + text.length() + 1, NPY_ALIGNMENT);
            ByteBuffer header = ByteBuffer.allocate(total).order(ByteOrder.LITTLE_ENDIAN);
            header.put(NPY_MAGIC).put((byte) (isLong ? 2 : 1)).put((byte) 0);
            if (isLong) {
                header.putInt(total - start);
            } else {
                header.putShort((short) (total - start));
            }
            header.put(text.getBytes(StandardCharsets.US_ASCII));
            while (header.remaining() > 1) {
                header.put((byte) ' ');
            }
            return header.put((byte) '\n').flip();
        }

        private static int roundUp(int bytes, int alignment) {
            return Math.addExact(bytes, alignment - 1) / alignment * alignment;
        }

        private static void require(boolean condition, DeviceArray array, String complaint) {
            if (!condition) {
                throw new IllegalArgumentException("array " + array + " " + complaint);
            }
        }
    }
}
