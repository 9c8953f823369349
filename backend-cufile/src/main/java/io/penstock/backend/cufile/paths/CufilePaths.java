// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.paths;

import io.penstock.Options;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.CufilePath;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.report.CuFileLibrary;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.file.FileMode;
import io.penstock.backend.gpu.file.FileSession;
import io.penstock.backend.gpu.mapped.MappedPath;
import io.penstock.backend.gpu.mapped.Registrations;
import io.penstock.backend.gpu.paths.FileIoPath;
import io.penstock.backend.gpu.paths.QueueSizes;
import io.penstock.backend.gpu.staged.StagedPath;
import io.penstock.engine.kit.PathTable;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.staging.StagingOptions;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The paths for {@link CufileOptions#PATH}, the best first, and last the path that takes everything: each takes a
 * transfer or returns why not, and the next one is tried.
 *
 * <table>
 * <caption>The paths for each option value, in order</caption>
 * <tr><td>auto</td><td>cuFile direct, where possible: whole blocks, registered memory, parts of {@link CufileOptions#DIRECT_BYTES} at least; mapped: reads of at least 1
 * MiB of immutable files, from the third on, the second registers them; staged. Never cuFile's own bouncing, which is slower than Penstock's staging buffers</td></tr>
 * <tr><td>direct</td><td>cuFile direct; staged</td></tr>
 * <tr><td>sync, batch, stream</td><td>cuFile direct; cuFile, direct or not; staged: what it refuses</td></tr>
 * <tr><td>mapped</td><td>mapped: reads of immutable files; staged</td></tr>
 * <tr><td>staged</td><td>staged</td></tr>
 * </table>
 */
final class CufilePaths {

    private final List<IoPath> all;
    private @Nullable FileSession cuFile;

    /**
     * Creates the paths.
     *
     * @param storages detects the storage under files
     * @throws io.penstock.BackendUnavailableException if a requested path is not available here
     */
    CufilePaths(GpuContext context, Options options, CuFileLibrary.Storages storages) {
        CufilePath path = options.get(CufileOptions.PATH);
        FileMode mode = mode(path);
        PathTable<CufilePath> table = new PathTable<>(CufileOptions.PATH, options);
        table.row(
                Set.of(CufilePath.AUTO),
                () -> CuFileLibrary.find(options, storages.nvidiaFs()).whyNotDirect(),
                "cuFile has no direct path here",
                () -> byCuFile(context, options, storages, mode, true));
        table.row(
                Set.of(CufilePath.DIRECT, CufilePath.SYNC, CufilePath.BATCH, CufilePath.STREAM),
                () -> CuFileLibrary.find(options).whyNot(mode),
                "cuFile cannot carry this transfer",
                () -> byCuFile(context, options, storages, mode, path == CufilePath.DIRECT));
        table.row(
                Set.of(CufilePath.AUTO, CufilePath.MAPPED),
                () -> MappedPath.unavailable(context),
                path == CufilePath.AUTO
                        ? ""
                        : CufileOptions.PATH + "=mapped is for reads of files that are opened IMMUTABLE",
                () -> List.of(new MappedPath(
                        context,
                        options,
                        Registrations.Sizes.of(ContextChoice.MAPPED, options),
                        path == CufilePath.AUTO ? MappedPath.Takes.WORTHWHILE : MappedPath.Takes.ALL)));
        Options sized = isOnlyGpu() ? StagingOptions.ofOnlyDevice(options) : options;
        all = table.open(why -> new StagedPath(context, sized, "through pinned staging buffers: " + why));
    }

    private static FileMode mode(CufilePath path) {
        return switch (path) {
            case BATCH -> FileMode.BATCH;
            case STREAM -> FileMode.STREAM;
            default -> FileMode.SYNC;
        };
    }

    private List<IoPath> byCuFile(
            GpuContext context, Options options, CuFileLibrary.Storages storages, FileMode mode, boolean onlyDirect) {
        FileSession session = new FileSession(context, options, CuFileSettings.of(options), storages);
        cuFile = session;
        QueueSizes sizes = QueueSizes.of(context.options(), options);
        boolean isAuto = options.get(CufileOptions.PATH) == CufilePath.AUTO;
        IoPath direct =
                new FileIoPath.Direct(session, mode, sizes, isAuto ? options.get(CufileOptions.DIRECT_BYTES) : 0);
        return onlyDirect ? List.of(direct) : List.of(direct, new FileIoPath.Compat(session, mode, sizes));
    }

    /** Returns whether the process sees one GPU. */
    private static boolean isOnlyGpu() {
        int[] count = new int[1];
        return Cuda.DRIVER.deviceGetCount(count) == Cuda.SUCCESS && count[0] == 1;
    }

    List<IoPath> all() {
        return all;
    }

    /** Returns the session of the paths by cuFile; null without such paths. */
    @Nullable
    FileSession cuFile() {
        return cuFile;
    }
}
