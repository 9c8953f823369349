// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.BufferRegion;
import io.penstock.Explanation;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.plan.SegmentCursor;
import io.penstock.engine.queue.SegmentSteps;
import io.penstock.engine.resource.BufferFile;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Selects the path of a transfer among the paths of a backend, and explains it.
 *
 * @param name the backend's, for messages
 * @param ioPaths in order of preference
 * @param fallbacks gets why transfers bypass a path
 */
record PathChoice(String name, List<IoPath> ioPaths, Fallbacks fallbacks) {

    /**
     * Returns the path of a transfer; counts it if it is not the first, and reports why earlier paths are bypassed.
     */
    int take(Transfer transfer) {
        int taken = first(transfer, true);
        if ((taken != 0 || ioPaths.get(0).isFallback()) && !isAsync(transfer)) {
            fallbacks.taken();
        }
        return taken;
    }

    /** Returns the first path that accepts a transfer, or the last one, which is not checked. */
    private int first(Transfer transfer, boolean reports) {
        int last = ioPaths.size() - 1;
        for (int ioPath = isAsync(transfer) ? last : 0; ioPath < last; ioPath++) {
            String refusal = refusal(ioPath, transfer);
            if (refusal.isEmpty()) {
                return ioPath;
            }
            if (reports) {
                fallbacks.bypassed(name, ioPaths.get(ioPath).path(), refusal, transfer);
            }
        }
        return last;
    }

    boolean isLast(int ioPath) {
        return ioPath == ioPaths.size() - 1;
    }

    /** Returns why a path does not accept a transfer; empty if it does. */
    String refusal(int ioPath, Transfer transfer) {
        for (int pair = 0; pair < targets(transfer); pair++) {
            EngineFile file = file(transfer, pair);
            if (file.isAsync() && isLast(ioPath)) {
                continue;
            }
            String refusal = file.refusal(ioPath);
            if (refusal.isEmpty()) {
                Target target = target(transfer, pair);
                refusal = ioPaths.get(ioPath).refusal(file.nativeFile(ioPath), target, memory(target));
            }
            if (!refusal.isEmpty()) {
                return refusal;
            }
        }
        String refusal = ioPaths.get(ioPath).refusal(transfer);
        for (int part = 0; part < parts(transfer) && refusal.isEmpty(); part++) {
            if (file(transfer, part).isAsync()) {
                continue;
            }
            NativeFile file = file(transfer, part).nativeFile(ioPath);
            refusal = ioPaths.get(ioPath).refusal(file, transfer.fileOffset(part), transfer.pairLength(part));
        }
        return refusal;
    }

    /** Notifies the paths before the chosen one that a transfer bypassed them. */
    void chosen(int ioPath, Transfer transfer) {
        for (int earlier = 0; earlier < ioPath; earlier++) {
            for (int part = 0; part < targets(transfer); part++) {
                EngineFile file = file(transfer, part);
                if (file.refusal(earlier).isEmpty()) {
                    DeviceMemory memory = memory(target(transfer, part));
                    ioPaths.get(earlier).skipped(file.nativeFile(earlier), memory, transfer, part);
                }
            }
        }
    }

    /** Returns whether a transfer is from buffers, or files on other hosts, of which the last path moves the bytes. */
    private static boolean isAsync(Transfer transfer) {
        return file(transfer, 0).isAsync();
    }

    /** Returns the number of targets of a transfer; 1 for a gather. */
    private static int targets(Transfer transfer) {
        return transfer.isGather() ? 1 : transfer.pairs();
    }

    private static Target target(Transfer transfer, int pair) {
        return transfer.isGather() ? transfer.target() : transfer.target(pair);
    }

    private static int parts(Transfer transfer) {
        return transfer.isGather() ? 0 : transfer.pairs();
    }

    private static EngineFile file(Transfer transfer, int pair) {
        return (EngineFile) transfer.fileRegion(pair).file();
    }

    private static @Nullable DeviceMemory memory(Target target) {
        return target instanceof BufferRegion region ? ((EngineBuffer) region.buffer()).memory() : null;
    }

    boolean isDirect(int ioPath, Transfer transfer) {
        return BufferFile.pathOf(transfer, ioPaths.get(ioPath)) == TransferPath.DIRECT;
    }

    /** Returns why a transfer is not direct; empty if it is. */
    String whyNotDirect(Transfer transfer) {
        int chosen = first(transfer, false);
        if (isDirect(chosen, transfer)) {
            return "";
        }
        if (isAsync(transfer)) {
            return switch (BufferFile.pathOf(transfer, ioPaths.get(chosen))) {
                case REMOTE -> "the file is on another host";
                case HOST -> "both buffers are in host memory";
                default ->
                    "backend " + name + " does not reach the memory of the "
                            + transfer.fileRegion(0).file();
            };
        }
        for (int ioPath = 0; ioPath < ioPaths.size(); ioPath++) {
            if (isDirect(ioPath, transfer)) {
                return refusal(ioPath, transfer);
            }
        }
        String ofPath = ioPaths.get(chosen).reason();
        String reason = ofPath.isEmpty() ? file(transfer, 0).nativeFile(chosen).reason() : ofPath;
        return "backend " + name + " has no direct path, only "
                + ioPaths.stream().map(IoPath::path).distinct().toList()
                + (reason.isEmpty() ? "" : ": " + reason);
    }

    /** Explains how a transfer would run, using the planner that would run it. */
    Explanation explain(Transfer transfer) {
        int index = first(transfer, false);
        IoPath ioPath = ioPaths.get(index);
        SegmentCursor.Ground ground = new SegmentCursor.Ground() {
            @Override
            public Limits limits(StorageFile file) {
                return ((EngineFile) file).nativeFile(index).limits();
            }

            @Override
            public long address(Target target) {
                DeviceMemory memory = memory(target);
                return memory == null ? 0 : memory.hostAddress();
            }
        };
        return new Explanation(
                BufferFile.pathOf(transfer, ioPath),
                ioPath.evidence(),
                new SegmentCursor(transfer, ground, SegmentSteps.BOUNCE_BYTES).count(),
                file(transfer, 0).nativeFile(index).limits().fileAlignment(),
                whyNotDirect(transfer),
                isDirect(index, transfer) || isAsync(transfer) ? "" : ioPath.remedy());
    }
}
