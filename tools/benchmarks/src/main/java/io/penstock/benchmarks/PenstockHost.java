// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.FileRegion;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.micrometer.TransferMeters;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import jdk.jfr.Recording;
import reactor.core.observability.micrometer.Micrometer;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Penstock in memory of the host. */
abstract class PenstockHost implements Contender {

    static final int QUEUE_DEPTH = 256;

    final Backend backend;

    private PenstockHost(Backend backend) {
        this.backend = backend;
    }

    @Override
    public void close() {
        backend.close();
    }

    /**
     * Penstock through {@code submit(Publisher)}: a transfer, a file region and a completion are created for each
     * block. Or through {@code submit(Transfer)}, with a publisher for each block, where each is observed or compared
     * with those.
     */
    static final class Submit extends PenstockHost {

        private static final int MADE_EACH = 64;

        private final Workload workload;
        private final Watching watching;
        private final ObservationRegistry observations = ObservationRegistry.create();
        private final StorageFile[] files;
        private final BufferRegion[] regions;
        private final Chains chains;
        private final Transfer[] made; // beforehand, some for each chain: only the library's own cost counts then
        private int round;

        /** How an application watches its transfers. */
        private enum Watching {
            /** Not at all; one call submits all transfers. */
            NOTHING,
            /** By meters, as {@code TransferMeters} keeps them. */
            METERS,
            /** By an event of JDK Flight Recorder for each transfer of at least 1 ms, which is the default. */
            SLOW_EVENTS,
            /** By an event of JDK Flight Recorder for each transfer. */
            EVENTS,
            /** Not at all; one call submits one transfer. */
            EACH,
            /** By an Observation of each transfer, with a timer for it, as Spring Boot keeps one. */
            OBSERVATIONS
        }

        Submit(Workload workload, Order order) {
            super(order.mode().open(QUEUE_DEPTH));
            this.workload = workload;
            watching = order.constant(Watching.class, "watching", Watching.NOTHING);
            if (watching == Watching.METERS) {
                TransferMeters.bind(backend, new SimpleMeterRegistry());
            }
            if (watching == Watching.OBSERVATIONS) {
                observations
                        .observationConfig()
                        .observationHandler(new DefaultMeterObservationHandler(new SimpleMeterRegistry()));
            }
            files = new StorageFile[workload.files().size()];
            for (int i = 0; i < files.length; i++) {
                files[i] = backend.openFile(workload.files().get(i), options(workload))
                        .block();
            }
            DeviceBuffer buffer = backend.allocate((long) workload.depth() * workload.blockBytes())
                    .block();
            chains = new Chains(workload, buffer.hostView().orElseThrow().buffer(0, (int) buffer.length()));
            regions = new BufferRegion[workload.depth()];
            for (int chain = 0; chain < regions.length; chain++) {
                regions[chain] = buffer.region((long) chain * workload.blockBytes(), workload.blockBytes());
            }
            made = new Transfer[order.has("made") ? MADE_EACH * workload.depth() : 0];
            for (int i = 0; i < made.length; i++) {
                made[i] = create(i % workload.depth());
            }
        }

        private static FileOption[] options(Workload workload) {
            FileOption variant = workload.write() ? FileOption.WRITE : FileOption.READ;
            return workload.direct() ? new FileOption[] {variant, FileOption.DIRECT} : new FileOption[] {variant};
        }

        @Override
        public Measure run(long nanos) throws Exception {
            TransferSource source = new TransferSource(workload.depth(), this::transfer);
            return run(
                    source,
                    new CompletionSink(workload.blockBytes(), each -> source.give(CompletionSink.part(each))),
                    nanos);
        }

        @Override
        public Latency latency(long nanos) throws Exception {
            Stopwatch stopwatch = new Stopwatch(workload.depth());
            TransferSource source = new TransferSource(workload.depth(), chain -> {
                stopwatch.begin(chain);
                return transfer(chain);
            });
            CompletionSink sink = new CompletionSink(workload.blockBytes(), each -> {
                int chain = CompletionSink.part(each);
                stopwatch.end(chain);
                source.give(chain);
            });
            run(source, sink, nanos);
            return stopwatch.latency();
        }

        private Measure run(TransferSource source, CompletionSink sink, long nanos) throws Exception {
            if (watching != Watching.EVENTS && watching != Watching.SLOW_EVENTS) {
                return sink.measure(
                        submit(source),
                        source,
                        nanos); // without a recorder, whose start all later transfers would notice
            }
            try (Recording recording =
                    new Recording()) { // it sees all backends of the process, so it lasts for one run
                recording
                        .enable("io.penstock.Transfer")
                        .withThreshold(watching == Watching.EVENTS ? Duration.ZERO : Duration.ofMillis(1));
                recording.start();
                return sink.measure(submit(source), source, nanos);
            }
        }

        private Flux<Completion> submit(TransferSource source) {
            int depth = workload.depth();
            return switch (watching) {
                case NOTHING, METERS, SLOW_EVENTS, EVENTS ->
                    backend.submit(source, SubmitOptions.DEFAULT.inFlight(depth));
                case EACH -> Flux.from(source).flatMap(backend::submit, depth);
                case OBSERVATIONS ->
                    Flux.from(source)
                            .flatMap(
                                    transfer -> backend.submit(transfer)
                                            .name("transfer")
                                            .tap(Micrometer.observation(observations)),
                                    depth);
            };
        }

        private Transfer transfer(int chain) {
            if (made.length == 0) {
                return create(chain);
            }
            Transfer again = made[round++ % MADE_EACH * workload.depth() + chain];
            chains.use(chain, again.fileOffset(0));
            return again;
        }

        private Transfer create(int chain) {
            long offset = chains.next(chain);
            FileRegion block = files[workload.number(offset)].region(workload.at(offset), workload.blockBytes());
            return workload.write() ? Transfer.write(regions[chain], block) : Transfer.read(block, regions[chain]);
        }

        @Override
        public void verify() throws IOException {
            chains.verify();
        }
    }

    /**
     * Penstock through {@code gather}: a few transfers of many random blocks, over an I/O queue of the row's depth. The
     * blocks are chosen beforehand, as in a program that reads records by an index.
     */
    static final class Gather extends PenstockHost {

        private final Workload workload;
        private final StorageFile file;
        private final DeviceBuffer buffer;
        private final int blocks;
        private final int targets;
        private final long[][] offsets;
        private final Transfer[] plans;
        private final int[] last;

        /** As many blocks in a transfer as {@code blocks}, 32 if it is absent: as much memory as the others use. */
        Gather(Workload workload, Order order) {
            super(order.mode().open(workload.depth()));
            this.workload = workload;
            blocks = (int) order.number("blocks", 32);
            targets = (int) order.number("targets", 4);
            int plansEach = (int) order.number("plans", 64); // of a target
            offsets = new long[targets * plansEach][];
            plans = new Transfer[targets * plansEach];
            last = new int[targets];
            file = backend.openFile(workload.file()).block();
            buffer = backend.allocate(targets * bytes()).block();
            for (int plan = 0; plan < plans.length; plan++) {
                offsets[plan] = ThreadLocalRandom.current()
                        .longs(blocks, 0, workload.blocks())
                        .map(block -> block * workload.blockBytes())
                        .toArray();
                BufferRegion target = buffer.region(plan % targets * bytes(), bytes());
                plans[plan] = Transfer.gather(file, offsets[plan], workload.blockBytes(), target);
            }
        }

        private long bytes() {
            return (long) blocks * workload.blockBytes();
        }

        @Override
        public Measure run(long nanos) throws Exception {
            TransferSource source = new TransferSource(targets, this::next);
            CompletionSink sink = new CompletionSink(bytes(), end -> source.give(CompletionSink.part(end)));
            Measure transfers =
                    sink.measure(backend.submit(source, SubmitOptions.DEFAULT.inFlight(targets)), source, nanos);
            return new Measure(
                    transfers.operations() * blocks, transfers.nanos(), transfers.cpuNanos(), transfers.allocated());
        }

        private Transfer next(int target) {
            last[target] = (last[target] + targets) % plans.length;
            return plans[last[target] + target];
        }

        @Override
        public void verify() throws IOException {
            for (int target = 0; target < targets; target++) {
                long[] expected = offsets[last[target] + target];
                for (int block = 0; block < blocks; block++) {
                    long at = target * bytes() + (long) block * workload.blockBytes();
                    ByteBuffer found = buffer.hostView().orElseThrow().buffer(at, workload.blockBytes());
                    TestFile.verify(found.order(ByteOrder.LITTLE_ENDIAN), expected[block]);
                    found.putLong(0, ~found.getLong(0)); // the next run must read it again
                }
            }
        }
    }

    /** A gather into a large buffer: the same one each time, or one that is allocated for it and closed. */
    static final class LargeGather extends PenstockHost {

        private final StorageFile file;
        private final int length;
        private final long[] offsets;
        private final DeviceBuffer kept;
        private final boolean fresh;

        LargeGather(Workload workload, Order order) {
            super(Mode.DEFAULT.open(QUEUE_DEPTH));
            file = backend.openFile(workload.file()).block();
            length = workload.blockBytes();
            offsets = ThreadLocalRandom.current()
                    .longs(order.count("blocks"), 0, workload.blocks())
                    .map(block -> block * length)
                    .toArray();
            fresh = order.has("fresh");
            kept = backend.allocate(fresh ? 1 : bytes()).block();
        }

        private long bytes() {
            return (long) offsets.length * length;
        }

        private long gather() throws IOException {
            DeviceBuffer buffer = fresh ? backend.allocate(bytes()).block() : kept;
            try {
                long moved = backend.submit(Transfer.gather(file, offsets, length, buffer.all()))
                        .block()
                        .bytes();
                if (moved != bytes()) {
                    throw new IOException(moved + " bytes of " + bytes());
                }
                int last = offsets.length - 1;
                ByteBuffer found = buffer.hostView().orElseThrow().buffer((long) last * length, length);
                TestFile.verify(found.order(ByteOrder.LITTLE_ENDIAN), offsets[last]);
                found.putLong(0, ~found.getLong(0)); // the next run must read it again
                return 1;
            } finally {
                if (fresh) {
                    buffer.close();
                }
            }
        }

        @Override
        public Measure run(long nanos) throws Exception {
            return Measure.of(() -> {
                long gathers = 0;
                for (long start = System.nanoTime(); System.nanoTime() - start < nanos; ) {
                    gathers += gather();
                }
                return gathers;
            });
        }
    }

    /**
     * Penstock: a block to the end of a new file, a sync, and so on. A sync covers the writes that were accepted
     * before it, so both can be subscribed to at once; or the application waits for the write before it asks for the
     * sync.
     */
    static final class Append extends PenstockHost {

        private final Workload workload;
        private final boolean atOnce;
        private final DeviceBuffer buffer;
        private final ByteBuffer bytes;
        private final AtomicLong written = new AtomicLong();

        Append(Workload workload, Mode mode, boolean atOnce) {
            super(mode.open(QUEUE_DEPTH));
            this.workload = workload;
            this.atOnce = atOnce;
            buffer = backend.allocate(workload.blockBytes()).block();
            bytes = buffer.hostView()
                    .orElseThrow()
                    .buffer(0, workload.blockBytes())
                    .order(ByteOrder.LITTLE_ENDIAN);
        }

        @Override
        public Measure run(long nanos) throws Exception {
            Files.deleteIfExists(workload.file());
            written.set(0);
            try (StorageFile file = backend.openFile(workload.file(), FileOption.WRITE, FileOption.CREATE_NEW)
                    .block()) {
                long end = System.nanoTime() + nanos;
                return Measure.of(() -> {
                    Mono.defer(() -> append(file))
                            .repeat(() -> System.nanoTime() < end)
                            .blockLast();
                    return written.get() / workload.blockBytes();
                });
            }
        }

        private Mono<Completion> append(StorageFile file) {
            long offset = written.get();
            TestFile.fill(bytes, offset);
            Mono<Completion> write =
                    backend.submit(Transfer.write(buffer.all(), file.region(offset, workload.blockBytes())));
            Mono<Completion> durable = atOnce
                    ? write.zipWith(file.sync().thenReturn(file), (completion, synced) -> completion)
                    : write.delayUntil(completion -> file.sync());
            return durable.doOnNext(completion -> written.addAndGet(completion.bytes()));
        }

        @Override
        public void verify() throws IOException {
            ByteBuffer block = ByteBuffer.allocateDirect(workload.blockBytes()).order(ByteOrder.LITTLE_ENDIAN);
            try (FileChannel file = FileChannel.open(workload.file())) {
                if (file.size() != written.get()) {
                    throw new IOException(file.size() + " bytes, not " + written);
                }
                for (long offset = 0; offset < file.size(); offset += workload.blockBytes()) {
                    file.read(block.clear(), offset);
                    TestFile.verify(block, offset);
                }
            }
            Files.delete(workload.file());
        }
    }
}
