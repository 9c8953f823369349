// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.paths;

import io.penstock.Options;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.file.FileHandles;
import io.penstock.backend.gpu.file.FileMode;
import io.penstock.backend.gpu.file.FileSession;
import io.penstock.backend.gpu.paths.FileIoPath;
import io.penstock.backend.gpu.paths.QueueSizes;
import io.penstock.backend.gpu.staged.StagedPath;
import io.penstock.backend.hip.HipOptions;
import io.penstock.backend.hip.HipPath;
import io.penstock.backend.hip.ffi.Hip;
import io.penstock.engine.kit.PathTable;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.staging.StagingOptions;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The paths for {@link HipOptions#PATH}, the best first, and last the path that takes everything: each takes a transfer
 * or returns why not, and the next one is tried.
 *
 * <table>
 * <caption>The paths for each option value, in order</caption>
 * <tr><td>auto, direct</td><td>hipFile direct, where possible: whole blocks, registered memory; staged</td></tr>
 * <tr><td>sync, batch, stream</td><td>hipFile direct; hipFile, direct or not, if it may fall back; staged</td></tr>
 * <tr><td>staged</td><td>staged</td></tr>
 * </table>
 */
final class HipPaths {

    private final List<IoPath> all;
    private @Nullable FileSession session;

    /**
     * Creates the paths.
     *
     * @param storages detects the storage under files
     * @throws io.penstock.BackendUnavailableException if a requested path is not available here
     */
    HipPaths(GpuContext context, Options options, FileHandles.Storages storages) {
        HipPath path = options.get(HipOptions.PATH);
        FileMode mode = mode(path);
        PathTable<HipPath> table = new PathTable<>(HipOptions.PATH, options);
        table.row(
                Set.of(HipPath.AUTO),
                () -> HipFileLibrary.find(options).whyNotDirect(),
                "hipFile has no direct path here",
                () -> byHipFile(context, options, storages, mode));
        table.row(
                Set.of(HipPath.DIRECT, HipPath.SYNC, HipPath.BATCH, HipPath.STREAM),
                () -> HipFileLibrary.find(options).whyNot(mode),
                "hipFile cannot carry this transfer",
                () -> byHipFile(context, options, storages, mode));
        Options sized = isOnlyGpu(context) ? StagingOptions.ofOnlyDevice(options) : options;
        all = table.open(why -> new StagedPath(context, sized, "through pinned staging buffers: " + why));
    }

    private static FileMode mode(HipPath path) {
        return switch (path) {
            case BATCH -> FileMode.BATCH;
            case STREAM -> FileMode.STREAM;
            default -> FileMode.SYNC;
        };
    }

    private List<IoPath> byHipFile(GpuContext context, Options options, FileHandles.Storages storages, FileMode mode) {
        HipPath path = options.get(HipOptions.PATH);
        boolean mayFallBack = options.get(HipOptions.ALLOW_COMPAT);
        FileSession opened = new FileSession(context, options, new HipFileSettings(mayFallBack), storages);
        session = opened;
        QueueSizes sizes = QueueSizes.of(context.options(), options);
        long least = path == HipPath.AUTO ? options.get(HipOptions.DIRECT_BYTES) : 0;
        IoPath direct = new FileIoPath.Direct(opened, mode, sizes, least);
        boolean onlyDirect = path == HipPath.AUTO || path == HipPath.DIRECT || !mayFallBack;
        return onlyDirect ? List.of(direct) : List.of(direct, new FileIoPath.Compat(opened, mode, sizes));
    }

    private static boolean isOnlyGpu(GpuContext context) {
        int[] count = new int[1];
        return context.driver().deviceGetCount(count) == Hip.SUCCESS && count[0] == 1;
    }

    List<IoPath> all() {
        return all;
    }

    /** Returns the session of the paths by hipFile; null without such paths. */
    @Nullable
    FileSession session() {
        return session;
    }
}
