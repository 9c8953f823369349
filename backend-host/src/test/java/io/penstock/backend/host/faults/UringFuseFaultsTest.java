// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.FileOption;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.backend.host.faults.FuseMount.On;
import io.penstock.tck.Bench;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.Test;

/** Faults of a file system over io_uring. */
class UringFuseFaultsTest implements FuseFaults {

    @Override
    public TckSubject subject() {
        return FaultSubject.uring();
    }

    @Test
    void whatDoesNotGoByTheRingIsExplained(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        StorageFile file = bench.openPlain(fuse.file(), FileOption.READ);
        Transfer read = Transfer.read(file.region(0, 4096), bench.poisoned(4096).all());
        String reason = "blocking calls on threads: the file system is FUSE";

        assertThat(bench.backend().explain(read).whyNotDirect()).endsWith(reason);
        assertThat(bench.move(read).reason()).isEqualTo(reason);
    }

    /** A pool cannot say this: a file channel asks again for ever. */
    @Test
    void interruptionsThatLastAreTransientAndNothingWasStarted(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.fail(On.READ, 0, FuseMount.EINTR, FuseMount.EVER);
        StorageFile file = bench.openPlain(fuse.file(), FileOption.READ);
        Transfer read = Transfer.read(file.region(0, 4096), bench.poisoned(4096).all());

        PenstockException failure = Signal.failure(bench.backend().submit(read));

        assertThat(failure).isInstanceOf(TransientStorageException.class);
        Signal.assertAnswer(failure, read + " failed", "EINTR", FuseMount.EINTR);
        assertThat(failure.outcome()).isEqualTo(Outcome.NOT_STARTED);
        fuse.clear();
        Signal.assertWorks(bench, fuse.file(), MIB);
    }
}
