// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.backend.host.faults.FuseMount.On;
import io.penstock.tck.Bench;
import io.penstock.tck.Content;
import io.penstock.tck.Pattern;
import io.penstock.tck.TckSubject;
import io.penstock.tck.Witness;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Faults of a file system over threads that make blocking calls. */
@Tag("slow")
class PoolFuseFaultsTest implements FuseFaults {

    @Override
    public TckSubject subject() {
        return FaultSubject.pool();
    }

    /** Over io_uring the kernel itself asks again, for as long as it takes. */
    @Test
    void aRefusalThatLastsIsTransientAndNothingWasStarted(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.fail(On.READ, 0, FuseMount.EAGAIN, FuseMount.EVER);
        StorageFile file = bench.openPlain(fuse.file(), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4096);

        PenstockException failure =
                Signal.failure(bench.backend().submit(Transfer.read(file.region(0, 4096), buffer.all())));

        assertThat(failure).isInstanceOf(TransientStorageException.class);
        Signal.assertAnswer(
                failure, "read of 4096 bytes at 0 of " + fuse.file() + " failed", "EAGAIN", FuseMount.EAGAIN);
        assertThat(failure.outcome()).isEqualTo(Outcome.NOT_STARTED);
        Content.assertPoison(buffer.all());
        fuse.clear();
        Signal.assertWorks(bench, fuse.file(), MIB);
    }

    /** Over io_uring the kernel makes EIO of a short write to FUSE. */
    @Test
    void writesThatAreCutShortAreContinuedToTheEnd(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.cutShort(On.WRITE, 1000, 777, 5);
        fuse.cutShort(On.WRITE, MIB + 1000, 777, 5);
        StorageFile file = bench.openPlain(fuse.file(), FileOption.WRITE);
        DeviceBuffer buffer = bench.filled(2 * MIB, new Pattern(9), 0);

        Completion completion =
                Signal.value(Witness.of(bench.backend().submit(Transfer.write(buffer.all(), file.region(0, 2 * MIB)))));

        assertThat(completion.bytes()).isEqualTo(2 * MIB);
        Content.assertHolds(fuse.file(), new Pattern(9), 0, 2 * MIB);
    }
}
