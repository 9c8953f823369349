// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import io.penstock.Backend;
import io.penstock.Chunk;
import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.FileRegion;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.renderer.dx11.TextureProjection;
import io.penstock.renderer.gl.BrickStream;
import io.penstock.renderer.gl.GlApplication;
import io.penstock.renderer.volume.BadVolumeException;
import io.penstock.renderer.volume.Budget;
import io.penstock.renderer.volume.DeviceComposition;
import io.penstock.renderer.volume.DevicePlace;
import io.penstock.renderer.volume.NiftiFile;
import io.penstock.renderer.volume.NiftiHeader;
import io.penstock.renderer.volume.Scene;
import io.penstock.renderer.volume.Slab;
import io.penstock.renderer.volume.SlabOrder;
import io.penstock.renderer.volume.SlabPlan;
import io.penstock.renderer.volume.SlabVisitor;
import io.penstock.renderer.volume.Survey;
import io.penstock.renderer.volume.ValueRange;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Streams a volume to visitors, within a budget: each slab is a chunk of device memory, leased while the visitor uses
 * it and the next ones are read.
 */
public final class VolumeReader {

    /**
     * One pass over a whole volume.
     *
     * @param bytes the bytes read
     * @param nanos how long it took, composition included
     * @param path the path that the bytes took
     * @param plan how the volume was cut
     */
    public record Pass(long bytes, long nanos, TransferPath path, SlabPlan plan) {}

    /** Receives the progress of a pass. An exception ends the pass, once its slabs are released, and is its failure. */
    public interface Listener {
        /** Called when {@code bytes} in all have been read and shown. */
        void read(long bytes, TransferPath path);
    }

    private static final FileOption[] OPTIONS = {FileOption.READ, FileOption.IMMUTABLE};

    private final Backend backend;
    private final NiftiFile volume;
    private final Budget budget;

    /**
     * Prepares passes over a volume.
     *
     * @param backend reads it; the caller closes it
     */
    public VolumeReader(Backend backend, NiftiFile volume, Budget budget) {
        this.backend = backend;
        this.volume = volume;
        this.budget = budget;
    }

    /**
     * Shows all slabs to a device in place, in the order that it requires. A slab's memory is reused for a read only
     * after the fence behind the device's work on it is signalled.
     *
     * @param fence creates a fence behind all work enqueued on the device so far
     * @param listener called for each slab, on a delivery thread
     */
    Pass compose(DeviceComposition composition, Supplier<DeviceFence> fence, Listener listener)
            throws BadVolumeException {
        SlabPlan plan = SlabPlan.within(budget, volume.header(), composition);
        return pass(
                plan,
                (chunk, range) -> {
                    composition.visit(
                            range,
                            new DevicePlace(
                                    chunk.region().buffer().nativeHandle(),
                                    chunk.region().offset()));
                    return chunk.releaseAfter(fence.get());
                },
                listener);
    }

    /**
     * Shows all slabs to shaders in 3D textures of an application, in the order that they require.
     *
     * @param listener called for each slab, on the application's thread
     */
    Pass compose(DeviceComposition composition, GlApplication application, Listener listener)
            throws BadVolumeException {
        SlabOrder order = new Order(composition, BrickStream.mostTexels(application), 0);
        SlabPlan plan = SlabPlan.within(budget, volume.header(), order);
        long[] read = new long[1];
        try (BrickStream bricks = new BrickStream(application, volume.header(), plan)) {
            return pass(
                    plan,
                    file -> bricks.show(file, composition)
                            .doOnNext(done -> listener.read(read[0] += done.bytes(), done.path()))
                            .map(Completion::path));
        }
    }

    /** The order that a visitor requires, in slabs that fit a texture, or are copied. */
    private record Order(SlabOrder visitor, int mostSlices, long copiedBytes) implements SlabOrder {

        @Override
        public boolean descending() {
            return visitor.descending();
        }

        @Override
        public long heldBytes(int slices) {
            return visitor.heldBytes(slices) + slices * copiedBytes;
        }
    }

    /**
     * Draws all slabs with Direct3D from a texture. One texture is enough: the device reads a slab before it writes the
     * next one, since both are ordered in its one context.
     *
     * @param listener called for each slab, on a delivery thread
     */
    Pass draw(TextureProjection projection, Listener listener) throws BadVolumeException {
        SlabPlan plan = SlabPlan.within(budget, volume.header(), projection);
        long first = plan.slabs().get(0).fileOffset();
        return pass(
                plan,
                file -> Flux.fromIterable(plan.slabs())
                        .concatMap(slab -> backend.submit(Transfer.read(
                                        file.region(slab.fileOffset(), slab.bytes()), projection.image(plan, slab)))
                                .flatMap(done -> complete(slab, done.bytes()).thenReturn(done.path()))
                                .doOnNext(path -> {
                                    projection.visit(slab);
                                    listener.read(slab.fileOffset() + slab.bytes() - first, path);
                                })));
    }

    /**
     * Shows all slabs to a visitor, in the order that it requires.
     *
     * @param listener called for each slab, on a delivery thread
     */
    Pass show(SlabVisitor visitor, Listener listener) throws BadVolumeException {
        SlabPlan plan = plan(visitor);
        return pass(plan, new Lending(plan, volume.header(), visitor), listener);
    }

    /**
     * Surveys the volume, in one pass, or two if its range must be found first.
     *
     * @param progress returns the listener of a pass for its name
     */
    public Scene survey(Function<String, Listener> progress) throws BadVolumeException {
        NiftiHeader header = volume.header();
        Survey survey = new Survey(header);
        if (Survey.needsRange(header)) {
            ValueRange range = new ValueRange(header);
            show(range, progress.apply("finding the range"));
            survey = new Survey(header, range);
        }
        show(survey, progress.apply("surveying"));
        return survey.finish();
    }

    /** The use of a slab while its memory is leased. */
    private interface Use {
        Mono<Void> of(Chunk chunk, SlabPlan.Range range);
    }

    private Pass pass(SlabPlan plan, Use use, Listener listener) {
        return pass(
                plan,
                file -> slabs(file, plan, chunk -> {
                    TransferPath taken = path(file, chunk);
                    return used(chunk, plan, use).then(Mono.fromSupplier(() -> {
                        listener.read(bytesBefore(plan, chunk) + chunk.length(), taken);
                        return taken;
                    }));
                }));
    }

    /** Opens the file for one pass over it, which emits the path of each slab; waits for the last one. */
    private Pass pass(SlabPlan plan, Function<StorageFile, Flux<TransferPath>> slabs) {
        long start = System.nanoTime();
        TransferPath path = backend.withFile(
                        volume.path(), OPTIONS, file -> slabs.apply(file).last())
                .block();
        return new Pass(bytes(), System.nanoTime() - start, Objects.requireNonNull(path), plan);
    }

    private static Mono<Void> used(Chunk chunk, SlabPlan plan, Use use) {
        SlabPlan.Range range = plan.slabs().get((int) chunk.index());
        return complete(range, chunk.length()).then(Mono.defer(() -> use.of(chunk, range)));
    }

    private static Mono<Void> complete(SlabPlan.Range range, long bytes) {
        return bytes == range.bytes()
                ? Mono.empty()
                : Mono.error(new BadVolumeException("the volume was truncated while it was read: " + bytes + " of "
                        + range.bytes() + " bytes at " + range.fileOffset()));
    }

    /** Returns the name of the backend. */
    String backend() {
        return backend.name();
    }

    /** Returns the bytes of one pass. */
    long bytes() {
        return volume.header().volumeBytes();
    }

    private SlabPlan plan(SlabVisitor visitor) throws BadVolumeException {
        long copied = backend.capabilities().hostVisible() ? 0 : volume.header().sliceBytes();
        return SlabPlan.within(budget, volume.header(), new Order(visitor, visitor.mostSlices(), copied));
    }

    private Flux<TransferPath> slabs(StorageFile file, SlabPlan plan, Function<Chunk, Mono<TransferPath>> use) {
        List<FileRegion> regions = plan.slabs().stream()
                .map(slab -> file.region(slab.fileOffset(), slab.bytes()))
                .toList();
        return backend.stream(
                StreamPlan.of(regions).chunkBytes(plan.chunkBytes()).depth(plan.depth()), use);
    }

    private static long bytesBefore(SlabPlan plan, Chunk chunk) {
        return chunk.index() * plan.chunkBytes(); // all slabs but the last are as thick
    }

    private TransferPath path(StorageFile file, Chunk chunk) {
        return backend.explain(Transfer.read(file.region(chunk.fileOffset(), chunk.length()), chunk.region()))
                .path();
    }

    /** Turns chunks into slabs: in place if the processor can address device memory, otherwise through a copy. */
    private static final class Lending implements Use {

        private final SlabPlan plan;
        private final NiftiHeader header;
        private final SlabVisitor visitor;
        private @Nullable ByteBuffer copy;

        Lending(SlabPlan plan, NiftiHeader header, SlabVisitor visitor) {
            this.plan = plan;
            this.header = header;
            this.visitor = visitor;
        }

        @Override
        public Mono<Void> of(Chunk chunk, SlabPlan.Range range) {
            if (chunk.region().buffer().hostView().isPresent()) {
                return Mono.fromRunnable(() -> visit(range, chunk.view().buffer(0, (int) chunk.length())));
            }
            ByteBuffer target = copy((int) range.bytes());
            return chunk.region()
                    .buffer()
                    .download(chunk.region().offset(), target)
                    .doOnNext(bytes -> visit(range, target))
                    .then();
        }

        private void visit(SlabPlan.Range range, ByteBuffer voxels) {
            visitor.visit(new Slab(range.from(), range.to(), voxels.order(header.order())));
        }

        private ByteBuffer copy(int bytes) {
            ByteBuffer here = copy;
            if (here == null) {
                here = ByteBuffer.allocateDirect((int) plan.chunkBytes());
                copy = here;
            }
            return here.slice(0, bytes);
        }
    }
}
