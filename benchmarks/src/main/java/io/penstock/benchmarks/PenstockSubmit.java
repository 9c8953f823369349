// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Penstock through {@code submit(Publisher)}: a transfer, a file region and a completion are made for each block. */
final class PenstockSubmit implements Contender {

    static final int LANE_DEPTH = 256;

    private final Workload workload;
    private final Mode mode;
    private final Backend backend;
    private final StorageFile file;
    private final BufferRegion[] regions;
    private final Slots slots;

    PenstockSubmit(Workload workload, Mode mode) {
        this.workload = workload;
        this.mode = mode;
        backend = mode.open(LANE_DEPTH);
        file = backend.openFile(workload.file(), options(workload)).block();
        DeviceBuffer buffer = backend.allocate((long) workload.depth() * workload.blockBytes())
                .block();
        slots = new Slots(workload, buffer.hostView().orElseThrow().buffer(0, (int) buffer.length()));
        regions = new BufferRegion[workload.depth()];
        for (int slot = 0; slot < regions.length; slot++) {
            regions[slot] = buffer.region((long) slot * workload.blockBytes(), workload.blockBytes());
        }
    }

    private static FileOption[] options(Workload workload) {
        FileOption way = workload.write() ? FileOption.WRITE : FileOption.READ;
        return workload.direct() ? new FileOption[] {way, FileOption.DIRECT} : new FileOption[] {way};
    }

    @Override
    public String name() {
        return "submit, " + mode;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        TransferSource source = new TransferSource(workload.depth(), this::transfer);
        int blockBytes = workload.blockBytes();
        CompletionSink sink = new CompletionSink(
                blockBytes,
                completion ->
                        source.give((int) (((BufferRegion) completion.transfer().target()).offset() / blockBytes)));
        return Measure.of(() -> {
            backend.submit(source, SubmitOptions.DEFAULT.inFlight(workload.depth()))
                    .subscribe(sink);
            TimeUnit.NANOSECONDS.sleep(nanos);
            source.end();
            return sink.await();
        });
    }

    private Transfer transfer(int slot) {
        long offset = slots.next(slot);
        return workload.write()
                ? Transfer.write(regions[slot], file.region(offset, workload.blockBytes()))
                : Transfer.read(file.region(offset, workload.blockBytes()), regions[slot]);
    }

    @Override
    public void verify() throws IOException {
        slots.verify(name());
    }

    @Override
    public void close() {
        backend.close();
    }
}
