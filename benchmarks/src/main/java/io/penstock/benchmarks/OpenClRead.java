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

/** Penstock: one subscriber reads a file into one buffer of an OpenCL device. */
final class OpenClRead implements Contender {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final String name;
    private final long bytes;
    private final long pieceBytes;
    private final Backend backend;
    private final StorageFile file;
    private final DeviceBuffer buffer;
    private final OpenClMemory memory;
    private final Set<String> ways = new TreeSet<>();

    /**
     * Opens what it needs.
     *
     * @param backend closed with this
     * @param pieceBytes of a transfer
     */
    OpenClRead(String name, Backend backend, Path hot, long bytes, long pieceBytes) {
        this.name = name;
        this.bytes = bytes;
        this.pieceBytes = pieceBytes;
        this.backend = backend;
        file = backend.openFile(hot, FileOption.READ).block();
        buffer = backend.allocate(bytes).block();
        memory = new OpenClMemory(backend);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        memory.poison(buffer.nativeHandle(), bytes);
        return Measure.of(this::read);
    }

    private long read() {
        Flux<Transfer> transfers = Flux.range(0, Math.toIntExact(bytes / pieceBytes))
                .map(i -> Transfer.read(
                        file.region(i * pieceBytes, pieceBytes), buffer.region(i * pieceBytes, pieceBytes)));
        List<Completion> ended =
                backend.submit(transfers, SubmitOptions.DEFAULT).collectList().block(LIMIT);
        ended.forEach(completion -> ways.add(completion.path() + " " + completion.evidence()));
        return ended.stream().mapToLong(Completion::bytes).sum();
    }

    @Override
    public void verify() throws IOException {
        memory.verify(name, buffer.nativeHandle(), 0, bytes, 0);
    }

    @Override
    public String remark() {
        return String.join(", ", ways);
    }

    @Override
    public void close() {
        memory.close();
        file.close();
        buffer.close();
        backend.close();
    }
}
