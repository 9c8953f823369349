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
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.micrometer.TransferMeters;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import reactor.core.observability.micrometer.Micrometer;
import reactor.core.publisher.Flux;

/**
 * Penstock through {@code submit(Publisher)}: a transfer, a file region and a completion are created for each block. Or
 * through {@code submit(Transfer)}, with a publisher for each block, where each is observed or compared with those.
 */
final class PenstockSubmit implements Contender {

    static final int QUEUE_DEPTH = 256;

    private final Workload workload;
    private final Mode mode;
    private final Watching watching;
    private final ObservationRegistry observations = ObservationRegistry.create();
    private final Backend backend;
    private final StorageFile file;
    private final BufferRegion[] regions;
    private final Chains chains;

    PenstockSubmit(Workload workload, Mode mode) {
        this(workload, mode, Watching.NOTHING);
    }

    PenstockSubmit(Workload workload, Mode mode, Watching watching) {
        this.workload = workload;
        this.mode = mode;
        this.watching = watching;
        backend = mode.open(QUEUE_DEPTH);
        if (watching == Watching.METERS) {
            TransferMeters.bind(backend, new SimpleMeterRegistry());
        }
        if (watching == Watching.OBSERVATIONS) {
            observations
                    .observationConfig()
                    .observationHandler(new DefaultMeterObservationHandler(new SimpleMeterRegistry()));
        }
        file = backend.openFile(workload.file(), options(workload)).block();
        DeviceBuffer buffer = backend.allocate((long) workload.depth() * workload.blockBytes())
                .block();
        chains = new Chains(workload, buffer.hostView().orElseThrow().buffer(0, (int) buffer.length()));
        regions = new BufferRegion[workload.depth()];
        for (int chain = 0; chain < regions.length; chain++) {
            regions[chain] = buffer.region((long) chain * workload.blockBytes(), workload.blockBytes());
        }
    }

    private static FileOption[] options(Workload workload) {
        FileOption variant = workload.write() ? FileOption.WRITE : FileOption.READ;
        return workload.direct() ? new FileOption[] {variant, FileOption.DIRECT} : new FileOption[] {variant};
    }

    @Override
    public String name() {
        return "submit, " + mode + watching;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        TransferSource source = new TransferSource(workload.depth(), this::transfer);
        return run(source, new CompletionSink(workload.blockBytes(), each -> source.give(chain(each))), nanos);
    }

    @Override
    public Latency latency(long nanos) throws Exception {
        Stopwatch stopwatch = new Stopwatch(workload.depth());
        TransferSource source = new TransferSource(workload.depth(), chain -> {
            stopwatch.begin(chain);
            return transfer(chain);
        });
        CompletionSink sink = new CompletionSink(workload.blockBytes(), each -> {
            int chain = chain(each);
            stopwatch.end(chain);
            source.give(chain);
        });
        run(source, sink, nanos);
        return stopwatch.latency();
    }

    private int chain(Completion completion) {
        return (int) (((BufferRegion) completion.transfer().target()).offset() / workload.blockBytes());
    }

    private Measure run(TransferSource source, CompletionSink sink, long nanos) throws Exception {
        if (watching != Watching.EVENTS && watching != Watching.SLOW_EVENTS) {
            return measure(source, sink, nanos); // without a recorder, whose start all later transfers would notice
        }
        try (Recording recording = new Recording()) { // it sees all backends of the process, so it lasts for one run
            recording
                    .enable("io.penstock.Transfer")
                    .withThreshold(watching == Watching.EVENTS ? Duration.ZERO : Duration.ofMillis(1));
            recording.start();
            return measure(source, sink, nanos);
        }
    }

    private Measure measure(TransferSource source, CompletionSink sink, long nanos) throws Exception {
        return Measure.of(() -> {
            submit(source).subscribe(sink);
            TimeUnit.NANOSECONDS.sleep(nanos);
            source.end();
            return sink.await();
        });
    }

    private Flux<Completion> submit(TransferSource source) {
        int depth = workload.depth();
        return switch (watching) {
            case NOTHING, METERS, SLOW_EVENTS, EVENTS -> backend.submit(source, SubmitOptions.DEFAULT.inFlight(depth));
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
        long offset = chains.next(chain);
        return workload.write()
                ? Transfer.write(regions[chain], file.region(offset, workload.blockBytes()))
                : Transfer.read(file.region(offset, workload.blockBytes()), regions[chain]);
    }

    @Override
    public void verify() throws IOException {
        chains.verify(name());
    }

    @Override
    public void close() {
        backend.close();
    }
}
