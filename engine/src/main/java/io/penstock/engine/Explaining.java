// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.BufferRegion;
import io.penstock.Explanation;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.plan.SegmentCursor;
import io.penstock.engine.queue.Bounces;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.Limits;

/** Explains how a transfer would run, using the planner that would run it. */
final class Explaining {

    private Explaining() {}

    static Explanation explain(EngineBackend backend, Transfer transfer) {
        int index = backend.choice().first(transfer);
        IoPath ioPath = backend.ioPaths().get(index);
        SegmentCursor.Ground ground = new SegmentCursor.Ground() {
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
        long segments = new SegmentCursor(transfer, ground, Bounces.BOUNCE_BYTES).count();
        long alignment = ground.limits(transfer.fileRegion(0).file()).fileAlignment();
        boolean direct = ioPath.path() == TransferPath.DIRECT;
        return new Explanation(
                ioPath.path(),
                ioPath.evidence(),
                segments,
                alignment,
                direct ? "" : backend.choice().whyNotDirect(transfer),
                direct ? "" : ioPath.remedy());
    }
}
