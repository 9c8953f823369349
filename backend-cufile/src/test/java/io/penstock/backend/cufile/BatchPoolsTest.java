// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.paths.CufileProvider;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Batches of several backends in one process, which share libcufile's bounce buffers: 128 slabs of 4 KiB in POSIX mode.
 */
@ExtendWith(FreshFakes.class)
class BatchPoolsTest {

    private static final String SUBMIT = "cuFileBatchIOSubmit";
    private static final int BLOCKS = 200;

    private CuFileBench bench;
    private byte[] content;
    private StorageFile file;
    private DeviceBuffer buffer;

    @BeforeEach
    void open() throws IOException {
        Fakes.cuda().set("device_count", 2);
        bench = CuFileBench.open(CufilePath.BATCH);
        content = CuFileBench.bytes(BLOCKS * 4096);
        file = bench.file(content);
        buffer = bench.buffer(content.length);
    }

    @AfterEach
    void close() throws IOException {
        bench.close();
    }

    private Backend other(int device) {
        Options options = CuFileFake.options(CufilePath.BATCH).with(CufileOptions.DEVICE, device);
        return new CufileProvider().open(options.resolve(Backends.options()), CuFileFake::nvme);
    }

    private static List<Mono<Completion>> reads(Backend backend, StorageFile file, DeviceBuffer buffer, int blocks) {
        return LongStream.range(0, blocks)
                .map(block -> block * 4096)
                .mapToObj(at -> backend.submit(Transfer.read(file.region(at, 4096), buffer.region(at, 4096))))
                .toList();
    }

    private static Mono<Boolean> all(List<Mono<Completion>> transfers) {
        return Flux.merge(Flux.fromIterable(transfers), 1000).then(Mono.just(true));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void twoBackendsTogetherNeedNoMoreBounceBuffersThanThereAre(int device) throws IOException {
        // The fake complains of entries for which there are no slabs, and never ends them.
        try (Backend other = other(device)) {
            StorageFile theirs = BackendFixture.get(other.openFile(file.path()));
            DeviceBuffer target = BackendFixture.get(other.allocate(content.length));
            bench.cufile.hold(SUBMIT);
            List<Mono<Completion>> reads = new ArrayList<>(reads(bench.backend(), file, buffer, BLOCKS));
            reads.addAll(reads(other, theirs, target, BLOCKS));
            var both = all(reads).toFuture();
            assertThat(bench.cufile.awaitCalls("cuFileBatchIOSetUp", 2)).isEqualTo(2);
            bench.cufile.release(SUBMIT);
            BackendFixture.get(Mono.fromFuture(both));
            assertThat(BackendFixture.content(buffer)).isEqualTo(content);
            assertThat(BackendFixture.content(target)).isEqualTo(content);
        }
    }

    @Test
    void aCancelledWaiterForBounceBuffersDelaysNoOther() throws IOException {
        try (Backend other = other(0)) {
            StorageFile theirs = BackendFixture.get(other.openFile(file.path()));
            DeviceBuffer target = BackendFixture.get(other.allocate(content.length));
            bench.cufile.hold(SUBMIT);
            var first = all(reads(bench.backend(), file, buffer, BLOCKS)).toFuture();
            assertThat(bench.cufile.awaitHeld(SUBMIT, 32))
                    .isEqualTo(32); // as many threads as the fake has: all slabs are taken
            Disposable waits = all(reads(other, theirs, target, 4)).subscribe();
            assertThat(bench.cufile.awaitCalls("cuFileBatchIOSetUp", 2)).isEqualTo(2);
            waits.dispose();
            bench.cufile.release(SUBMIT);
            BackendFixture.get(Mono.fromFuture(first));
            assertThat(BackendFixture.content(buffer)).isEqualTo(content);
        }
    }
}
