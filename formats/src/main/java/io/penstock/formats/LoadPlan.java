// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.DeviceBuffer;
import io.penstock.formats.load.Assembly;
import io.penstock.formats.load.Batch;
import io.penstock.formats.read.ArrowReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.RandomAccess;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a load would do: which arrays go where in which buffers, and by how many transfers. Immutable; nothing has been
 * opened or allocated.
 */
public final class LoadPlan {

    /**
     * An array, or a slice of it, and its place in device memory.
     *
     * @param array the array as its file describes it
     * @param shape the shape of what is loaded: of the array, or of the slice
     * @param source the bytes of the file
     * @param conversion what the elements are converted to
     * @param buffer the number of the buffer, from 0
     * @param offset the offset in that buffer, a multiple of {@link Loader#alignment}
     */
    public record Placement(
            Array array, List<Long> shape, ArraySource source, Conversion conversion, int buffer, long offset) {
        /** Copies the list. */
        public Placement {
            shape = List.copyOf(shape);
        }

        /** Returns the bytes in memory of the device. */
        public long bytes() {
            return conversion.bytes(source.bytes());
        }

        /** Returns whether the bytes pass through memory of the host, to be decoded, converted or assembled. */
        public boolean throughHost() {
            boolean straight = conversion.isNone() && source instanceof Extent; // as most are
            return !straight
                    && bytes() > 0
                    && (!conversion.isNone() || source instanceof ChunkWindow window && !Assembly.isStraight(window));
        }

        private DeviceArray deviceArray(List<DeviceBuffer> targets) {
            return new DeviceArray(
                    array.name(),
                    conversion.type(array.type()),
                    shape,
                    conversion.byteOrder(array),
                    array.order(),
                    targets.get(buffer).region(offset, bytes()),
                    source instanceof Extent && array.data() instanceof FileBlocks rows && bytes() > 0
                            ? rows.stride()
                            : 0);
        }

        /**
         * Passes what the device shall have to {@code target}, as {@link LoadPlan#contents} does, which is faster for
         * many arrays of a stream of Arrow.
         */
        public void contents(Consumer<ByteBuffer> target) throws IOException {
            contents(target, new ArrowReader.Comparison());
        }

        private void contents(Consumer<ByteBuffer> target, ArrowReader.Comparison comparison) throws IOException {
            if (array().data() instanceof Array.Data.Chunked data
                    && data.chunks().size() == 1) {
                comparison.check(array()); // what is not encoded is compared as it passes
            }
            for (HostPiece piece : HostPiece.of(this, comparison)) {
                target.accept(piece.read());
            }
        }
    }

    private final List<Placement> placements;
    private final List<Placement> throughHost; // arrays that pass through memory of the host
    private final List<Long> buffers;
    private final Map<Path, List<Batch>> batches;
    private final long bytes; // of the arrays
    private final Map<String, String> leftOut;
    private final ArrowReader.Comparison comparison = new ArrowReader.Comparison();

    private LoadPlan(
            List<Placement> placements,
            long bytes,
            List<Placement> throughHost,
            List<Long> buffers,
            Map<Path, List<Batch>> batches,
            Map<String, String> leftOut) {
        this.leftOut = Collections.unmodifiableMap(leftOut);
        this.placements = placements;
        this.bytes = bytes;
        this.throughHost = throughHost;
        this.buffers = buffers;
        this.batches = batches;
    }

    /**
     * Places arrays, each as it is added, which is right if they come in the order of their files, as most do; else all
     * are placed again. Not thread-safe.
     */
    static final class Builder {

        private final boolean oneBuffer;
        private final long alignment;
        private final Map<Path, Integer> files = new HashMap<>(); // numbered as they come
        private final Conversion none;
        private final PlacementList placements;
        private final Batch.Builder straight = new Batch.Builder(Loader.ALIGNMENT - 1);
        private final List<Placement> throughHost = new ArrayList<>();
        private final List<Long> buffers = new ArrayList<>();
        private long all; // bytes of the arrays
        private long end; // of the last array in its buffer
        private @Nullable Path file; // of the last array
        private long offset;
        private boolean sorted = true;

        /**
         * Starts without arrays.
         *
         * @param oneBuffer whether all are placed in one buffer, in the order of their files; else each has its own
         * @param alignment of each array in its buffer
         * @param none the conversion of arrays that are loaded as they are
         */
        Builder(boolean oneBuffer, long alignment, Conversion none) {
            this.oneBuffer = oneBuffer;
            this.alignment = alignment;
            this.none = none;
            placements = new PlacementList(oneBuffer, none);
        }

        void add(Array array, List<Long> shape, ArraySource source, Conversion conversion) {
            Extent first = source.first();
            // A path that is equal but another object is taken for unsorted, which is correct and costs a sort.
            sorted &= file == first.file()
                    ? offset <= first.offset()
                    : files.putIfAbsent(first.file(), files.size()) == null;
            file = first.file();
            offset = first.offset();
            int buffer = placements.nextBuffer();
            long start = oneBuffer ? Math.addExact(end, alignment - 1) / alignment * alignment : 0;
            long bytes = conversion.bytes(source.bytes());
            all = Math.addExact(all, bytes);
            end = Math.addExact(start, bytes);
            if (conversion.isNone() && source == array.data() && source instanceof Extent) {
                placements.addWhole(array, start);
                if (bytes > 0) {
                    straight.add(first, true, buffer, start);
                }
            } else {
                add(new Placement(array, shape, source, conversion, buffer, start));
            }
            if (!oneBuffer) {
                buffers.add(end);
            }
        }

        private void add(Placement place) {
            placements.add(place);
            if (place.throughHost()) {
                throughHost.add(place);
            } else if (place.bytes() > 0) {
                boolean isWhole = place.shape().equals(place.array().shape());
                straight.add(place.source(), isWhole, place.buffer(), place.offset());
            }
        }

        LoadPlan build(long transferBytes, Map<String, String> leftOut) {
            if (!sorted) {
                return inOrder().build(transferBytes, leftOut);
            }
            if (oneBuffer && !placements.isEmpty()) {
                buffers.add(end);
            }
            return new LoadPlan(
                    Collections.unmodifiableList(placements),
                    all,
                    throughHost,
                    List.copyOf(buffers),
                    straight.build(transferBytes),
                    leftOut);
        }

        private Builder inOrder() {
            List<Placement> places = new ArrayList<>(placements);
            places.sort(Comparator.<Placement>comparingInt(
                            place -> files.getOrDefault(place.source().first().file(), 0))
                    .thenComparingLong(place -> place.source().first().offset()));
            Builder inOrder = new Builder(oneBuffer, alignment, none);
            places.forEach(place -> inOrder.add(place.array(), place.shape(), place.source(), place.conversion()));
            inOrder.sorted = true;
            return inOrder;
        }
    }

    /**
     * The places of arrays, in their order. The place of an array which is loaded as it is, as most are, is made when
     * it is first used: of ten thousand arrays few may ever be. Not thread-safe until it is complete.
     */
    private static final class PlacementList extends AbstractList<Placement> implements RandomAccess {

        private final boolean oneBuffer;
        private final Conversion none;
        private final List<Object> arrays = new ArrayList<>(); // an Array if it is loaded as it is, else its Placement
        private long[] offsets = new long[16];

        /**
         * Starts without arrays.
         *
         * @param oneBuffer whether all are in the buffer of number 0; else each is in the buffer of its own number
         * @param none the conversion of arrays that are loaded as they are
         */
        PlacementList(boolean oneBuffer, Conversion none) {
            this.oneBuffer = oneBuffer;
            this.none = none;
        }

        /** Adds an array of which all bytes are loaded as they lie in one place of its file. */
        void addWhole(Array array, long offset) {
            int index = arrays.size();
            if (index >= offsets.length) {
                offsets = Arrays.copyOf(offsets, 2 * index);
            }
            offsets[index] = offset;
            arrays.add(array);
        }

        @Override
        public boolean add(Placement placement) {
            return arrays.add(placement);
        }

        /** Returns the buffer of the array that is added next. */
        int nextBuffer() {
            return buffer(size());
        }

        private int buffer(int index) {
            return oneBuffer ? 0 : index;
        }

        @Override
        public Placement get(int index) {
            if (arrays.get(index) instanceof Placement placement) {
                return placement;
            }
            Array array = (Array) arrays.get(index);
            Extent extent = (Extent) array.data();
            return new Placement(array, array.shape(), extent, none, buffer(index), offsets[index]);
        }

        @Override
        public int size() {
            return arrays.size();
        }
    }

    /** Returns the arrays, in the order in which they lie in their files. */
    public List<Placement> arrays() {
        return placements;
    }

    /** Returns why arrays that a load of everything would have cannot be read, by name. */
    public Map<String, String> leftOut() {
        return leftOut;
    }

    /**
     * Passes what the device shall have of one of {@link #arrays} to {@code target}, from the first byte to the last, as
     * the JDK reads it from the file. Blocks.
     */
    public void contents(Placement placement, Consumer<ByteBuffer> target) throws IOException {
        placement.contents(target, comparison);
    }

    /** Returns the bytes of each buffer that would be allocated. */
    public List<Long> buffers() {
        return buffers;
    }

    /** Returns the bytes of the arrays. */
    public long bytes() {
        return bytes;
    }

    /** Returns the bytes of device memory: the bytes of the arrays, and of the gaps that align them. */
    public long deviceBytes() {
        return buffers.stream().reduce(0L, Math::addExact);
    }

    /**
     * Checks that all chunks can be decoded, and be assembled in the memory that there is for it.
     *
     * @param all whether none may be missing
     * @throws IllegalArgumentException if not
     */
    void checkDecoders(boolean all) {
        for (Placement placement : throughHost) {
            if (placement.source() instanceof ChunkWindow window) {
                try {
                    if (all) {
                        Assembly.checkComplete(window);
                    }
                    Assembly.check(window, placement.conversion().hostBytes());
                } catch (IllegalArgumentException e) {
                    throw new IllegalArgumentException(
                            MalformedFileException.plain(
                                    "array " + placement.array().name() + " " + e.getMessage()),
                            e);
                }
            }
        }
    }

    /**
     * Returns what happens to arrays in memory of the host, in words: the codecs that are undone, {@code transpose}
     * included, {@code assembled} from small chunks, {@code byte swap}, {@code F32 to BF16}.
     */
    public Set<String> conversions() {
        Set<String> names = new TreeSet<>();
        for (Placement placement : throughHost) {
            names.addAll(placement.conversion().names());
            if (placement.source() instanceof ChunkWindow window) {
                names.addAll(Assembly.conversions(window));
            }
        }
        return names;
    }

    /** Returns the pieces that pass through memory of the host. */
    List<HostPiece> hostPieces() {
        return throughHost.stream()
                .flatMap(placement -> HostPiece.of(placement, comparison).stream())
                .toList();
    }

    /** Returns the number of transfers. */
    public int transfers() {
        return batches.values().stream().mapToInt(List::size).sum();
    }

    /**
     * Returns what is in the buffers after the load, in the order of {@link #arrays}: each made at its first use.
     */
    List<DeviceArray> deviceArrays(List<DeviceBuffer> targets) {
        return new DeviceArrays(placements, targets);
    }

    /** Of ten thousand arrays few may ever be used. Immutable. */
    private static final class DeviceArrays extends AbstractList<DeviceArray> implements RandomAccess {

        private final List<Placement> placements;
        private final List<DeviceBuffer> targets;

        DeviceArrays(List<Placement> placements, List<DeviceBuffer> targets) {
            this.placements = placements;
            this.targets = targets;
        }

        @Override
        public DeviceArray get(int index) {
            return placements.get(index).deviceArray(targets);
        }

        @Override
        public int size() {
            return placements.size();
        }
    }

    /** Returns the transfers by file. */
    Map<Path, List<Batch>> batches() {
        return batches;
    }

    /** Returns the bytes that are moved: the bytes of the arrays, and of gaps that are read with them. */
    long transferBytes() {
        return throughHost.stream().mapToLong(Placement::bytes).sum()
                + batches.values().stream()
                        .flatMap(List::stream)
                        .mapToLong(Batch::bytes)
                        .sum();
    }

    /** Returns a line such as {@code 180 arrays, 8723456000 bytes, in 1 buffer of ...; 130 transfers from 2 files}. */
    @Override
    public String toString() {
        long pieces = batches.values().stream()
                .flatMap(List::stream)
                .mapToLong(batch -> batch.pieces().size())
                .sum();
        return String.format(
                Locale.ROOT,
                "%d arrays of %d bytes, in %d buffers of %d bytes; %d transfers of %d pieces, from %d files",
                placements.size(),
                bytes,
                buffers.size(),
                deviceBytes(),
                transfers(),
                pieces,
                batches.size());
    }
}
