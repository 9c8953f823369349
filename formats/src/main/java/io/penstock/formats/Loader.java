// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.Backend;
import io.penstock.FileOption;
import io.penstock.formats.load.Assembly;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Loads arrays from files into memory of a device. Immutable: each method returns another loader.
 *
 * <p>The bytes go from the file to their final place by the backend's transfers, and each array starts there at a
 * multiple of {@link #alignment} bytes, whatever its alignment in the file. Neighbours in the file are read as one
 * where that permits.
 */
public final class Loader {

    /** The alignment of every array in device memory, unless told, in bytes: the alignment of CUDA's allocations. */
    public static final long ALIGNMENT = 256;

    private static final long TRANSFER_BYTES = 64L << 20;
    private static final long MOST_TRANSFER_BYTES = 1L << 30;
    private static final long HOST_BYTES = 256L << 20;
    private static final long LEAST_HOST_BYTES = 1L << 20;

    private static final Pattern ALL = pattern("*");
    private static final String LEAVE_OUT =
            "; FormatOption.DAMAGED_ARRAYS of Loader.formatOptions, or --lenient, leaves it out";

    private record Cutting(Predicate<String> names, Slice slice) {}

    /** What a loader was told. Changed by {@link #with} alone, before another loader has it. */
    private static final class Settings implements Cloneable {

        private List<Pattern> names = List.of();
        private List<Cutting> slices = List.of();
        private boolean oneBuffer = true;
        private long budget = Long.MAX_VALUE;
        private long transferBytes = TRANSFER_BYTES;
        private List<FileOption> fileOptions = List.of(FileOption.READ);
        private FormatOption[] formatOptions = {};
        private long hostBytes = HOST_BYTES;
        private boolean littleEndian;
        private boolean brainFloats;
        private boolean allChunks;
        private boolean gaps;
        private long alignment = ALIGNMENT;
        private @Nullable SharedLoad shared;

        Settings copy() {
            try {
                return (Settings) clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private final Backend backend;
    private final Settings settings;

    private Loader(Backend backend, Settings settings) {
        this.backend = Objects.requireNonNull(backend, "backend");
        this.settings = settings;
    }

    /** Returns a loader of all arrays, as a whole, into one buffer. */
    public static Loader of(Backend backend) {
        return new Loader(backend, new Settings());
    }

    private Loader with(Consumer<Settings> change) {
        Settings changed = settings.copy();
        change.accept(changed);
        return new Loader(backend, changed);
    }

    /**
     * Returns this loader, for the arrays that have one of these names only. In a name {@code *} stands for any
     * characters and {@code ?} for one: {@code model.layers.0.*}. A name that no array has is an error, and so is one
     * of an array that cannot be read. {@code *} alone, as no name, loads everything but what is {@linkplain
     * ArrayFile#unsupported not supported}, which {@link LoadedArrays#leftOut} and a warning name. There a {@linkplain
     * ArrayFile#damaged damaged} array is an error, unless {@link FormatOption#DAMAGED_ARRAYS} is permitted.
     */
    public Loader arrays(String... names) {
        List<Pattern> all = new ArrayList<>(settings.names);
        Stream.of(names).map(Loader::pattern).forEach(all::add);
        return with(changed -> changed.names = List.copyOf(all));
    }

    /** Returns this loader, for this slice of every array that has no slice yet. */
    public Loader slice(Slice slice) {
        return slice("*", slice);
    }

    /**
     * Returns this loader, for this slice of the arrays with that name, as in {@link #arrays}. The first match counts.
     * A name that no array has is no error, so that the same slices serve several models and the files of one;
     * {@link #explain(Path...)} returns the shapes.
     */
    public Loader slice(String name, Slice slice) {
        List<Cutting> all = new ArrayList<>(settings.slices);
        all.add(new Cutting(pattern(name).asMatchPredicate(), Objects.requireNonNull(slice, "slice")));
        return with(changed -> changed.slices = List.copyOf(all));
    }

    /** Returns this loader, with a buffer for each array, instead of one buffer for all of them. */
    public Loader bufferPerArray() {
        return with(changed -> changed.oneBuffer = false);
    }

    /**
     * Returns this loader, which fails before it allocates anything if more device memory were needed.
     *
     * @throws IllegalArgumentException if less than 1
     */
    public Loader budget(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("the budget must be at least 1 byte, was " + bytes);
        }
        return with(changed -> changed.budget = bytes);
    }

    /**
     * Returns this loader, with transfers of at most that many bytes (default: 64 MiB). Progress is reported by
     * transfers.
     *
     * @throws IllegalArgumentException if less than 4096 or more than 1 GiB
     */
    public Loader transferBytes(long bytes) {
        if (bytes < 4096 || bytes > MOST_TRANSFER_BYTES) {
            throw new IllegalArgumentException("transfers must have 4096 bytes to 1 GiB, were " + bytes);
        }
        return with(changed -> changed.transferBytes = bytes);
    }

    /** Returns this loader, whose loads read each byte once together with loaders of other devices. */
    public Loader shared(SharedLoad with) {
        Objects.requireNonNull(with, "with");
        return with(changed -> changed.shared = with);
    }

    /** Returns this loader, which opens files with these options (default: {@link FileOption#READ}). */
    public Loader fileOptions(FileOption... options) {
        List<FileOption> all = List.of(options);
        return with(changed -> changed.fileOptions = all);
    }

    /** Returns this loader, whose readers permit this though the format forbids it (default: nothing). */
    public Loader formatOptions(FormatOption... permitted) {
        FormatOption[] all = permitted.clone();
        return with(changed -> changed.formatOptions = all);
    }

    /**
     * Returns this loader, which takes about that many bytes of the host's memory (default: 256 MiB) for arrays that
     * pass through it: arrays in compressed or small chunks, and arrays that are converted.
     *
     * @throws IllegalArgumentException if less than 1 MiB or more than 1 GiB
     */
    public Loader hostBytes(long bytes) {
        if (bytes < LEAST_HOST_BYTES || bytes > Assembly.MOST_HOST_BYTES) {
            throw new IllegalArgumentException("memory of the host must be 1 MiB to 1 GiB, was " + bytes);
        }
        return with(changed -> changed.hostBytes = bytes);
    }

    /**
     * Returns this loader, which makes big-endian arrays little-endian: they pass through memory of the host. Otherwise
     * they keep their byte order, which {@link DeviceArray#byteOrder} has.
     */
    public Loader littleEndian() {
        return with(changed -> changed.littleEndian = true);
    }

    /** Returns this loader, which rounds {@code F32} to {@code BF16}: such arrays pass through memory of the host. */
    public Loader brainFloats() {
        return with(changed -> changed.brainFloats = true);
    }

    /**
     * Returns this loader, which fails before it allocates anything where a chunk of an array is missing. Otherwise its
     * elements have the fill value, as the format demands, whether it was never written or has been lost.
     */
    public Loader allChunks() {
        return with(changed -> changed.allChunks = true);
    }

    /**
     * Returns this loader, which keeps what a file has between the rows of a matrix, as {@code .fvecs} has: it is read
     * by few large transfers, and {@link DeviceArray#rowStride()} tells where a row starts. Otherwise each row is a piece
     * of a gather, and the rows lie side by side, as rows of converted arrays always do.
     */
    public Loader keepGaps() {
        return with(changed -> changed.gaps = true);
    }

    /**
     * Returns this loader, which starts each array at a multiple of that many bytes (default: {@link #ALIGNMENT}). With
     * 1 neighbours can be {@linkplain DeviceArray#joined joined}; kernels may need more.
     *
     * @throws IllegalArgumentException if less than 1 or more than {@link #ALIGNMENT}
     */
    public Loader alignment(long bytes) {
        if (bytes < 1 || bytes > ALIGNMENT) {
            throw new IllegalArgumentException("alignment must be 1 to " + ALIGNMENT + " bytes, was " + bytes);
        }
        return with(changed -> changed.alignment = bytes);
    }

    private static Pattern pattern(String name) {
        StringBuilder regex = new StringBuilder();
        name.codePoints().forEach(c -> {
            String one = Character.toString(c);
            regex.append(one.equals("*") ? ".*" : one.equals("?") ? "." : Pattern.quote(one));
        });
        return Pattern.compile(regex.toString(), Pattern.DOTALL);
    }

    /** Loads the arrays of files, which must not have a name twice, as {@link Load#arrays} does. */
    public Mono<LoadedArrays> load(Path... files) {
        return Mono.defer(() -> prepare(files).arrays());
    }

    /** Loads the arrays of a file whose metadata have been read, as {@link Load#arrays} does. */
    public Mono<LoadedArrays> load(ArrayFile file) {
        return Mono.defer(() -> prepare(file).arrays());
    }

    /** Returns a load that has not started, to see its progress. */
    public Load prepare(Path... files) {
        return new Load(this, explain(files));
    }

    /** Returns a load that has not started, to see its progress. */
    public Load prepare(ArrayFile file) {
        return new Load(this, Mono.fromCallable(() -> explain(file)));
    }

    /** Reads the metadata of files and emits what a load would do. */
    public Mono<LoadPlan> explain(Path... files) {
        return Formats.readAll(List.of(files), settings.formatOptions).map(this::plan);
    }

    /**
     * Returns what a load would do.
     *
     * @throws IllegalArgumentException if the arrays cannot be placed, sliced or decoded, need more than the budget, or
     *     no array has a given name
     * @throws MalformedFileException if an array that is wanted is damaged
     */
    public LoadPlan explain(ArrayFile file) {
        return plan(List.of(file));
    }

    private LoadPlan plan(List<ArrayFile> files) {
        checkNames(files);
        Map<String, String> leftOut = leftOut(files);
        checkWanted(files);
        LoadPlan plan;
        long deviceBytes;
        try {
            plan = placements(files).build(settings.transferBytes, leftOut);
            deviceBytes = plan.deviceBytes();
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("the arrays need more bytes than a long can hold", e);
        }
        plan.checkDecoders(settings.allChunks);
        if (deviceBytes > settings.budget) {
            throw new IllegalArgumentException((plan.arrays().size() == 1
                            ? "1 array needs "
                            : plan.arrays().size() + " arrays need ")
                    + deviceBytes + " bytes of device memory, more than the budget of " + settings.budget);
        }
        return plan;
    }

    private LoadPlan.Builder placements(List<ArrayFile> files) {
        Conversion none = new Conversion(settings.hostBytes, 0, false);
        LoadPlan.Builder placements = new LoadPlan.Builder(settings.oneBuffer, settings.alignment, none);
        for (ArrayFile file : files) {
            for (Array array : file.arrays()) {
                if (settings.names.isEmpty() || settings.names.stream().anyMatch(name -> matches(name, array))) {
                    place(
                            placements,
                            array,
                            settings.littleEndian || settings.brainFloats
                                    ? Conversion.of(
                                            array, settings.hostBytes, settings.littleEndian, settings.brainFloats)
                                    : none);
                }
            }
        }
        return placements;
    }

    /** Checks names across files: names within a file differ. */
    private void checkNames(List<ArrayFile> files) {
        Set<String> names = new HashSet<>();
        if (files.size() > 1) {
            arrays(files)
                    .map(Array::name)
                    .filter(name -> !names.add(name))
                    .findFirst()
                    .ifPresent(name -> {
                        throw new IllegalArgumentException(
                                "two arrays have the name " + MalformedFileException.plain(name) + " in "
                                        + files.stream().map(ArrayFile::path).toList());
                    });
        }
        for (Pattern name : settings.names) {
            if (arrays(files).noneMatch(array -> matches(name, array))
                    && leftOut(files).keySet().stream()
                            .noneMatch(array -> name.matcher(array).matches())) {
                throw new IllegalArgumentException("no array has the name "
                        + name.pattern().replace("\\Q", "").replace("\\E", "").replace(".*", "*") + " in "
                        + files.stream().map(ArrayFile::path).toList() + attribute(name, files));
            }
        }
    }

    /** Returns why arrays that are wanted cannot be read, by name. */
    private Map<String, String> leftOut(List<ArrayFile> files) {
        Map<String, String> leftOut = new LinkedHashMap<>();
        files.forEach(file -> leftOut.putAll(file.leftOut()));
        leftOut.keySet()
                .removeIf(array -> !settings.names.isEmpty()
                        && settings.names.stream()
                                .noneMatch(name -> name.matcher(array).matches()));
        return leftOut;
    }

    /** All names together may leave arrays out, as a load without names does; each other name wants what it matches. */
    private void checkWanted(List<ArrayFile> files) {
        boolean isEmpty = arrays(files).findAny().isEmpty();
        boolean wantsAll = settings.names.isEmpty()
                || settings.names.stream().anyMatch(name -> name.pattern().equals(ALL.pattern()));
        boolean permitted = List.of(settings.formatOptions).contains(FormatOption.DAMAGED_ARRAYS);
        for (ArrayFile file : files) {
            file.leftOut().forEach((array, reason) -> {
                boolean wanted = isEmpty
                        || settings.names.stream()
                                .anyMatch(name -> !name.pattern().equals(ALL.pattern())
                                        && name.matcher(array).matches());
                if (file.damaged().containsKey(array) && (wanted || wantsAll && !permitted)) {
                    throw file.damage(array, wanted ? "" : LEAVE_OUT);
                }
                if (wanted) {
                    throw new IllegalArgumentException("array " + MalformedFileException.plain(array) + " of "
                            + file.path() + " cannot be read: " + reason);
                }
            });
        }
    }

    /** What the files say of a name that no array has, such as that it is a text in an archive. */
    private static String attribute(Pattern name, List<ArrayFile> files) {
        return files.stream()
                .flatMap(file -> file.attributes().entrySet().stream())
                .filter(attribute -> name.matcher(attribute.getKey()).matches())
                .map(attribute -> MalformedFileException.plain(
                        ", but an attribute " + attribute.getKey() + ": " + attribute.getValue()))
                .findFirst()
                .orElse("");
    }

    private static Stream<Array> arrays(List<ArrayFile> files) {
        return files.stream().flatMap(file -> file.arrays().stream());
    }

    private static boolean matches(Pattern name, Array array) {
        return name.matcher(array.name()).matches();
    }

    private void place(LoadPlan.Builder placements, Array array, Conversion conversion) {
        Slice slice = slice(array);
        if (!(array.data() instanceof ArraySource data)) {
            ChunkWindow window = slice == null ? ChunkWindow.all(array) : slice.window(array);
            placements.add(array, window.shape(), window, conversion);
            return;
        }
        Slice.Cut cut = slice == null ? new Slice.Cut(array.shape(), data) : slice.cut(array, data);
        boolean keeps =
                settings.gaps && conversion.isNone() && data instanceof FileBlocks; // of the file, not of a slice
        ArraySource source = keeps && cut.source() instanceof FileBlocks rows ? rows.span() : cut.source();
        placements.add(array, cut.shape(), source, conversion);
    }

    private @Nullable Slice slice(Array array) {
        for (Cutting cutting : settings.slices) {
            if (cutting.names.test(array.name())) {
                return cutting.slice;
            }
        }
        return null;
    }

    long hostBytes() {
        return settings.hostBytes;
    }

    Optional<SharedLoad> shared() {
        return Optional.ofNullable(settings.shared);
    }

    Backend backend() {
        return backend;
    }

    FileOption[] fileOptions() {
        return settings.fileOptions.toArray(new FileOption[0]);
    }
}
