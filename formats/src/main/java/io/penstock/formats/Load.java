// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Failure;
import io.penstock.FileOption;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import io.penstock.file.BlockingCall;
import io.penstock.file.FirstError;
import io.penstock.formats.load.Assembly;
import io.penstock.formats.load.Batch;
import java.io.EOFException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;
import reactor.core.publisher.Sinks;
import reactor.core.publisher.SynchronousSink;

/** One load, which runs once: its result, and its progress meanwhile. */
public final class Load {

    private static final Logger LOG = LoggerFactory.getLogger(Load.class);
    private static final int FILES = 4; // open at a time
    private static final SubmitOptions SUBMIT = SubmitOptions.DEFAULT.inFlight(16); // of each file

    private static final int SHARED_TRANSFERS = 16; // of 64 MiB each, unless told: in a part that loads share
    private static final int SHARED_PARTS =
            2; // at a time, so that the next one is read while the last chunks are copied

    private final Loader loader;
    private final Mono<LoadPlan> planned;
    private final AtomicBoolean started = new AtomicBoolean();
    private final Sinks.Many<LoadProgress> progress = Sinks.many().replay().latest();
    private final Set<TransferPath> paths = EnumSet.noneOf(TransferPath.class); // guarded by this
    private long done; // bytes; guarded by this

    Load(Loader loader, Mono<LoadPlan> planned) {
        this.loader = loader;
        this.planned = planned;
    }

    /**
     * Loads the arrays. Can be subscribed to once.
     *
     * <p><b>Result:</b> the arrays, to be closed by the caller.
     *
     * <p><b>Errors:</b> the errors of reading the metadata ({@link Formats#read}), {@link MalformedFileException} if an
     * array that is wanted is damaged, {@link IllegalArgumentException} if the arrays cannot be placed, sliced or need more than the budget, and the errors of {@link Backend#allocate},
     * {@link Backend#openFile} and {@link Backend#submit}. {@link EOFException} if a file became shorter. {@link
     * IllegalStateException} if the memory of the host does not suffice for what passes through it.
     *
     * <p><b>Cancellation:</b> at any moment: all files are closed and all buffers freed.
     */
    public Mono<LoadedArrays> arrays() {
        return Mono.defer(() -> {
            if (!started.compareAndSet(false, true)) {
                return Mono.error(new IllegalStateException("a load runs once"));
            }
            return planned.flatMap(this::load).doFinally(end -> finish());
        });
    }

    /**
     * Emits how far the load is, from its start to its end. Completes when the load has ended, whether it succeeded or
     * not. A subscriber that is too slow misses steps.
     */
    public Flux<LoadProgress> progress() {
        return progress.asFlux().onBackpressureLatest();
    }

    /**
     * The set of buffers exists before any of them is requested, so that a cancel at any moment has something to close.
     */
    private Mono<LoadedArrays> load(LoadPlan plan) {
        if (!plan.leftOut().isEmpty()) {
            LOG.warn(
                    "a load leaves out what cannot be read: {}; the first: {}",
                    MalformedFileException.plain(
                            String.join(", ", plan.leftOut().keySet())),
                    plan.leftOut().values().iterator().next());
        }
        return Mono.usingWhen(
                Mono.fromSupplier(LoadedArrays.BufferSet::new),
                buffers -> fill(plan, buffers),
                buffers -> Mono.empty(),
                (buffers, failure) -> Mono.fromRunnable(buffers::close),
                buffers -> Mono.fromRunnable(buffers::close));
    }

    private Mono<LoadedArrays> fill(LoadPlan plan, LoadedArrays.BufferSet buffers) {
        long start = System.nanoTime();
        long total = plan.transferBytes();
        Sinks.One<List<DeviceBuffer>> targets = Sinks.one();
        Mono<Void> allocated = Flux.fromIterable(plan.buffers())
                .index()
                .concatMap(buffer -> loader.backend()
                        .allocate(buffer.getT2())
                        .onErrorMap(
                                TransientStorageException.class,
                                e -> noMemory(plan, buffer.getT1().intValue(), e))
                        .doOnNext(buffers::add))
                .then(Mono.fromRunnable(() -> {
                    List<DeviceBuffer> all = buffers.buffers();
                    if (all.size() == plan.buffers().size()) { // else cancelled, and closed, meanwhile
                        targets.tryEmitValue(all);
                    }
                }));
        LoadPacks packed = packed(plan);
        // The first files are opened while memory is allocated.
        Mono<Void> moved = FirstError.of(
                Flux.fromIterable(plan.batches().entrySet())
                        .filter(file -> !packed.batches().containsKey(file.getKey()))
                        .map(file -> move(file.getKey(), file.getValue(), targets.asMono(), total)),
                FILES);
        Mono<Void> small =
                packed.batches().isEmpty() ? Mono.empty() : targets.asMono().flatMap(all -> move(packed, all, total));
        Mono<Void> uploaded = targets.asMono().flatMap(all -> upload(plan.hostPieces(), all, total));
        return FirstError.of(Flux.just(allocated, moved, small, uploaded), 4)
                .then(Mono.fromSupplier(() -> new LoadedArrays(
                        plan, buffers, plan.deviceArrays(buffers.buffers()), paths(), System.nanoTime() - start)));
    }

    /**
     * Returns the error with the name of the largest array: a file of a few bytes may declare one that fits no device.
     */
    private static TransientStorageException noMemory(LoadPlan plan, int buffer, TransientStorageException e) {
        String largest = plan.arrays().stream()
                .filter(placement -> placement.buffer() == buffer)
                .max(Comparator.comparingLong(LoadPlan.Placement::bytes))
                .map(placement -> placement.array().name() + " of " + placement.bytes() + " bytes")
                .orElseThrow();
        return new TransientStorageException(
                "no memory for a buffer of " + plan.buffers().get(buffer) + " bytes, the largest array is " + largest
                        + ": " + e.getMessage(),
                new Failure(e.outcome(), e.nativeError().orElse(null)),
                e);
    }

    /** Passes pieces through memory of the host: several at a time, as the limit on that memory permits. */
    private Mono<Void> upload(List<HostPiece> pieces, List<DeviceBuffer> targets, long total) {
        long largest = pieces.stream().mapToLong(HostPiece::bytes).max().orElse(1);
        int processors = Runtime.getRuntime().availableProcessors();
        int atATime =
                (int) Math.max(1, Math.min(processors, loader.hostBytes() / (2 * largest))); // stored, and decoded
        return FirstError.of(
                Flux.fromIterable(pieces)
                        .map(piece -> read(piece)
                                .flatMap(bytes -> targets.get(piece.buffer()).upload(piece.offset(), bytes))
                                .doOnNext(bytes -> count(bytes, total))),
                atATime);
    }

    /** Emits what is read. */
    static Mono<ByteBuffer> read(HostPiece piece) {
        return BlockingCall.of(() -> {
            try {
                return piece.read();
            } catch (OutOfMemoryError e) { // does not tell what to do
                throw new IllegalStateException(
                        "there is not enough memory of the host to read " + piece.bytes() + " bytes of an array, "
                                + Assembly.SEE_HOST_BYTES + ": " + e.getMessage(),
                        e);
            }
        });
    }

    private Mono<Void> move(Path path, List<Batch> batches, Mono<List<DeviceBuffer>> targets, long total) {
        return loader.backend()
                .withFile(
                        path,
                        loader.fileOptions(),
                        file -> targets.flatMapMany(all -> read(path, batches, batch -> batch.transfer(file, all)))
                                .handle((Completion moved, SynchronousSink<Void> sink) -> {
                                    if (moved.bytes() < moved.transfer().length()) {
                                        sink.error(new EOFException(path + " became shorter: the " + moved.transfer()
                                                + " found only " + moved.bytes()));
                                    } else {
                                        count(moved, total);
                                    }
                                })
                                .then());
    }

    /** Returns the small files, unless they are to bypass the page cache, or to be shared. */
    private LoadPacks packed(LoadPlan plan) {
        boolean plain =
                loader.shared().isEmpty() && List.of(loader.fileOptions()).equals(List.of(FileOption.READ));
        return LoadPacks.of(plain ? plan.batches() : Map.of());
    }

    private Mono<Void> move(LoadPacks packed, List<DeviceBuffer> targets, long total) {
        return packed.read(
                        loader.backend(),
                        targets,
                        step -> Flux.concat(
                                loader.backend()
                                        .submit(Flux.fromIterable(step.copies()), SUBMIT)
                                        .doOnNext(moved -> count(moved, total))
                                        .thenMany(Flux.<Void>empty()),
                                FirstError.of(
                                        Flux.fromIterable(step.others().entrySet())
                                                .map(file -> move(
                                                        file.getKey(), file.getValue(), Mono.just(targets), total)),
                                        FILES)))
                .then();
    }

    private Flux<Completion> read(Path path, List<Batch> batches, Function<Batch, Transfer> transfer) {
        Backend backend = loader.backend();
        Optional<SharedLoad> shared = loader.shared();
        if (shared.isEmpty()) {
            return backend.submit(Flux.fromIterable(batches).map(transfer), SUBMIT);
        }
        Flux<Signal<Completion>> together = Flux.fromIterable(batches)
                .filter(Batch::isWhole)
                .map(transfer)
                .buffer(SHARED_TRANSFERS)
                .index((number, several) -> shared.get().join(backend, path, number.intValue(), joined(several)))
                .flatMap(Mono::materialize, SHARED_PARTS); // errors as values: see FirstError
        Flux<Transfer> own =
                Flux.fromIterable(batches).filter(batch -> !batch.isWhole()).map(transfer);
        return Flux.merge(together, backend.submit(own, SUBMIT).materialize())
                .filter(signal -> !signal.isOnComplete())
                .dematerialize();
    }

    private static Transfer joined(List<Transfer> transfers) {
        Transfer first = transfers.get(0);
        return transfers.size() == 1 ? first : first.and(transfers.subList(1, transfers.size()));
    }

    private void count(Completion moved, long total) {
        synchronized (this) {
            paths.add(moved.path());
        }
        count(moved.bytes(), total);
    }

    private synchronized void count(long bytes, long total) {
        done += bytes;
        // Under the lock, so that the steps come in their order; a sink does not run its subscribers at length.
        progress.tryEmitNext(new LoadProgress(done, total));
    }

    private synchronized Set<TransferPath> paths() {
        return Set.copyOf(paths);
    }

    private synchronized void finish() {
        progress.tryEmitComplete();
    }
}
