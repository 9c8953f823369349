// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.ClosedException;
import io.penstock.Pack;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

/** Many small files, packed (rules 101, 103, 201, 601). */
public interface PackRules extends Rules {

    /** Several packs of some files each. */
    Pack.Plan PLAN = Pack.Plan.DEFAULT.packBytes(100_000).depth(2).inFlight(16);

    private static List<Path> files(Bench bench) {
        List<Path> paths = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            paths.add(bench.file("small" + i, i * 331L % 9001));
        }
        return paths;
    }

    private static void assertHolds(Pack pack, Pack.Entry entry) {
        ByteBuffer bytes = ByteBuffer.allocate((int) entry.length());
        pack.buffer().download(entry.offset(), bytes).block(Bench.patience());
        Content.assertHolds(bytes.clear(), Pattern.of(entry.path()), 0, entry.length());
    }

    /**
     * Rule 103: every byte of every file, in the order of the paths; what cannot be read is an entry. If this fails, check
     * how a pack is copied to the device.
     */
    @Test
    default void required_103_aPackHasTheBytesOfItsFiles(Bench bench) {
        List<Path> paths = new ArrayList<>(files(bench));
        Path absent = bench.path("absent");
        paths.add(30, absent);
        List<Path> got = new ArrayList<>();
        for (Pack pack : bench.backend().pack(Flux.fromIterable(paths), PLAN).toIterable(1)) {
            try (pack) {
                for (Pack.Entry entry : pack.entries()) {
                    got.add(entry.path());
                    assertThat(pack.region(entry).length()).isEqualTo(entry.length());
                    if (entry.path() == absent) {
                        assertThat(entry.error()).isInstanceOf(NoSuchFileException.class);
                    } else {
                        assertThat(entry.error()).isNull();
                        assertHolds(pack, entry);
                    }
                }
            }
        }
        assertThat(got).isEqualTo(paths);
    }

    /**
     * Rule 103: the files of a pack are written from the device as they were read. If this fails, check how a pack is
     * copied from the device.
     */
    @Test
    default void required_103_aPackIsWrittenAsItsFiles(Bench bench) throws IOException {
        List<Path> paths = files(bench);
        Flux<Pack> packs = bench.backend()
                .pack(Flux.fromIterable(paths), PLAN)
                .map(pack -> pack.at(path -> path.resolveSibling(path.getFileName() + ".copy")));
        List<Pack.Entry> written = Objects.requireNonNull(bench.backend()
                .unpack(packs, Pack.Writing.DEFAULT)
                .collectList()
                .block(Bench.patience()));
        assertThat(written).hasSameSizeAs(paths);
        for (Pack.Entry entry : written) {
            assertThat(entry.error()).isNull();
        }
        for (Path path : paths) {
            assertThat(Files.mismatch(path, path.resolveSibling(path.getFileName() + ".copy")))
                    .isEqualTo(-1);
        }
    }

    /** Rule 201: a cancel frees the packs that were not delivered. If this fails, check who closes a pack in flight. */
    @Test
    default void required_201_aCancelledPackIsFreed(Bench bench) {
        List<Path> paths = files(bench);
        for (int taken = 0; taken < 3; taken++) {
            StepVerifier.create(bench.backend()
                            .pack(Flux.fromIterable(paths), PLAN)
                            .doOnNext(Pack::close)
                            .take(taken, false))
                    .expectNextCount(taken)
                    .thenCancel()
                    .verify(Bench.patience());
        }
    }

    /** Rule 601: a closed backend refuses them. If this fails, check what keeps the backend open. */
    @Test
    default void required_601_aClosedBackendReadsNoPacks(Bench bench) {
        List<Path> paths = files(bench);
        bench.backend().close();
        StepVerifier.create(bench.backend().pack(Flux.fromIterable(paths), PLAN))
                .expectError(ClosedException.class)
                .verify(Bench.patience());
    }
}
