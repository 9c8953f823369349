// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import reactor.core.publisher.Flux;

/** Penstock: one subscriber reads a file into one buffer of a device. */
final class BufferRead implements Contender {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    /**
     * The file to read, and how.
     *
     * @param segmentBytes of a transfer
     * @param inFlight how many transfers are open at a time
     */
    record Plan(Path hot, long bytes, long segmentBytes, int inFlight) {}

    private final String name;
    private final Plan plan;
    private final Backend backend;
    private final StorageFile file;
    private final DeviceBuffer buffer;
    private final DeviceCheck memory;
    private final Set<String> variants = new TreeSet<>();

    /**
     * Opens its resources.
     *
     * @param backend closed with this, after {@code memory}
     */
    BufferRead(String name, Backend backend, DeviceCheck memory, Plan plan) {
        this.name = name;
        this.plan = plan;
        this.backend = backend;
        this.memory = memory;
        file = backend.openFile(plan.hot(), FileOption.READ).block();
        buffer = backend.allocate(plan.bytes()).block();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        memory.poison(buffer.nativeHandle(), plan.bytes());
        return Measure.of(this::read);
    }

    private long read() {
        long segment = plan.segmentBytes();
        Flux<Transfer> transfers = Flux.range(0, Math.toIntExact(plan.bytes() / segment))
                .map(i -> Transfer.read(file.region(i * segment, segment), buffer.region(i * segment, segment)));
        SubmitOptions options = SubmitOptions.DEFAULT.inFlight(plan.inFlight());
        List<Completion> ended =
                backend.submit(transfers, options).collectList().block(LIMIT);
        ended.forEach(completion -> variants.add(completion.path() + " " + completion.evidence()));
        return ended.stream().mapToLong(Completion::bytes).sum();
    }

    @Override
    public void verify() throws IOException {
        memory.verify(name, buffer.nativeHandle(), 0, plan.bytes(), 0);
    }

    @Override
    public String remark() {
        return String.join(", ", variants);
    }

    @Override
    public void close() {
        memory.close();
        file.close();
        buffer.close();
        backend.close();
    }
}
