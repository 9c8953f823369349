// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.tck.Bench;
import io.penstock.tck.Rules;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Thousands of cancels in flight against real files: no slab is overwritten after its release, no read is lost. */
@Tag(Tool.FAULTS)
interface CancelsInFlight extends Rules {

    /** The bytes of the files. */
    long FILE_BYTES = 64 << 20;

    @Override
    PoisonedSubject subject();

    /** Returns how many reads each test cancels. */
    int cancels();

    private void cancelReads(Bench bench, StorageFile file, int bytes) {
        PoisonedSubject subject = (PoisonedSubject) bench.subject();
        CancelStorm storm = new CancelStorm(bench, subject.slabs(), file, bytes, 10_000);
        storm.cancel(cancels());
        file.close();
        bench.backend().close();
        storm.assertNoneLost(cancels());
    }

    @Test
    default void readsThatBypassThePageCache(Bench bench) {
        cancelReads(
                bench, bench.openPlain(bench.file("direct", FILE_BYTES), FileOption.READ, FileOption.DIRECT), 65_536);
    }

    @Test
    default void readsFromThePageCache(Bench bench) {
        // From 64 KiB on kernel workers copy, so that a read can be in flight.
        cancelReads(bench, bench.openPlain(bench.file("cached", FILE_BYTES), FileOption.READ), 131_072);
    }

    @Test
    default void readsFromASlowFileSystem(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.slow(1000);
        cancelReads(bench, bench.openPlain(fuse.file(), FileOption.READ), 16_384);
        fuse.clear();
    }
}
