// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.BufferRegion;
import io.penstock.Explanation;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.plan.PieceCursor;
import io.penstock.engine.queue.Bounces;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.Route;

/** Explains what a transfer would do, by the same planner that would do it. */
final class Explaining {

    private Explaining() {}

    static Explanation explain(EngineBackend backend, Transfer transfer) {
        int index = backend.choice().first(transfer);
        Route route = backend.routes().get(index);
        PieceCursor.Ground ground = new PieceCursor.Ground() {
            @Override
            public Limits limits(StorageFile file) {
                return ((EngineFile) file).nativeFile(index).limits();
            }

            @Override
            public long address(Target target) {
                return target instanceof BufferRegion region
                        ? ((EngineBuffer) region.buffer()).memory().hostAddress()
                        : 0;
            }
        };
        long pieces = new PieceCursor(transfer, ground, Bounces.SLOT_BYTES).count();
        long alignment = ground.limits(transfer.fileRegion(0).file()).fileAlignment();
        boolean direct = route.path() == TransferPath.DIRECT;
        return new Explanation(
                route.path(),
                route.evidence(),
                pieces,
                alignment,
                direct ? "" : backend.choice().whyNotDirect(transfer),
                direct ? "" : route.remedy());
    }
}
