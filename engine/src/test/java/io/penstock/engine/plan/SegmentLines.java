// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import io.penstock.BufferRegion;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.engine.spi.Limits;
import java.util.ArrayList;
import java.util.List;

/**
 * Plans as lines of text: kind, file offset, target offset, bytes; then the cover of a bounce, and the pairs.
 * {@code BOUNCE 10 -> 99: 1 in 0 + 4096 pair 0}.
 */
public final class SegmentLines {

    static final long BOUNCE = 16 * 1024;
    static final Limits BLOCKS = limits(4096, 512, 8192, false);

    private SegmentLines() {}

    static Limits limits(long fileAlignment, long memoryAlignment, long segmentBytes, boolean packs) {
        return new Limits(fileAlignment, memoryAlignment, 2 * segmentBytes, segmentBytes, packs);
    }

    static SegmentCursor.Ground ground(Limits limits) {
        return ground(limits, 0);
    }

    /** As above, over memory with slack behind its buffers. */
    static SegmentCursor.Ground ground(Limits limits, long slack) {
        return new SegmentCursor.Ground() {
            @Override
            public Limits limits(StorageFile file) {
                return limits;
            }

            @Override
            public long address(Target target) {
                return target instanceof BufferRegion region ? region.buffer().nativeHandle() : 0;
            }

            @Override
            public long slack(StorageFile file, Target target) {
                return target instanceof BufferRegion region
                                && region.offset() + region.length()
                                        == region.buffer().length()
                        ? slack
                        : 0;
            }
        };
    }

    static SegmentCursor cursor(Transfer transfer, Limits limits) {
        return new SegmentCursor(transfer, ground(limits), BOUNCE);
    }

    static List<String> plan(Transfer transfer, Limits limits) {
        return lines(cursor(transfer, limits));
    }

    static List<String> lines(SegmentCursor cursor) {
        List<String> lines = new ArrayList<>();
        while (cursor.next()) {
            String cover = cursor.kind() == SegmentCursor.Kind.BOUNCE
                    ? " in " + cursor.coverOffset() + " + " + cursor.coverBytes()
                    : "";
            String pairs = cursor.pairCount() == 1
                    ? " pair " + cursor.pair()
                    : " pairs " + cursor.pair() + " to " + (cursor.pair() + cursor.pairCount() - 1);
            lines.add(cursor.kind() + " " + cursor.fileOffset() + " -> " + cursor.targetOffset() + ": " + cursor.bytes()
                    + cover + pairs);
        }
        return lines;
    }
}
