// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.paths;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.CufilePath;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.driver.CuFileMode;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.backend.cufile.file.CuFileHandles;
import io.penstock.backend.cufile.mapped.MappedPath;
import io.penstock.backend.cufile.register.CuFileSession;
import io.penstock.backend.cufile.report.CuFileLibrary;
import io.penstock.backend.cufile.staged.StagedPath;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.staging.StagingOptions;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The paths for {@link CufileOptions#PATH}, the best first, and last the one that takes everything: each takes a
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
 *
 * @param cuFile the session of the paths by cuFile; null without such paths
 */
public record CufilePaths(List<IoPath> all, @Nullable CuFileSession cuFile) {

    /**
     * Creates the paths.
     *
     * @param storages detects the storage under files
     * @throws BackendUnavailableException if a requested path is not available here
     */
    static CufilePaths of(CudaContext context, Options options, CuFileHandles.Storages storages) {
        CufilePath path = options.get(CufileOptions.PATH);
        return switch (path) {
            case AUTO -> automatic(context, options, storages);
            case STAGED -> new CufilePaths(List.of(staged(context, options, CufileOptions.PATH + "=staged")), null);
            case MAPPED -> mapped(context, options);
            case DIRECT, SYNC -> ofCuFile(context, options, storages, CuFileMode.SYNC);
            case BATCH -> ofCuFile(context, options, storages, CuFileMode.BATCH);
            case STREAM -> ofCuFile(context, options, storages, CuFileMode.STREAM);
        };
    }

    private static CufilePaths automatic(CudaContext context, Options options, CuFileHandles.Storages storages) {
        List<IoPath> ioPaths = new ArrayList<>();
        CuFileSession cuFile = null;
        String whyNotDirect = CuFileLibrary.find(options, storages.nvidiaFs()).whyNotDirect();
        if (whyNotDirect.isEmpty()) {
            cuFile = new CuFileSession(context, options, storages);
            ioPaths.add(new CuFileIoPath(
                    cuFile, CuFileMode.SYNC, true, CuFileSizes.of(options), options.get(CufileOptions.DIRECT_BYTES)));
        }
        if (MappedPath.unavailable(context).isEmpty()) {
            ioPaths.add(new MappedPath(context, options, MappedPath.Takes.WORTHWHILE));
        }
        ioPaths.add(staged(context, options, whyNotDirect.isEmpty() ? "cuFile has no direct path here" : whyNotDirect));
        return new CufilePaths(ioPaths, cuFile);
    }

    private static CufilePaths mapped(CudaContext context, Options options) {
        String why = MappedPath.unavailable(context);
        if (!why.isEmpty()) {
            throw unavailable(CufilePath.MAPPED, why);
        }
        String rest = CufileOptions.PATH + "=mapped is for reads of files that are opened IMMUTABLE";
        return new CufilePaths(
                List.of(new MappedPath(context, options, MappedPath.Takes.ALL), staged(context, options, rest)), null);
    }

    private static CufilePaths ofCuFile(
            CudaContext context, Options options, CuFileHandles.Storages storages, CuFileMode mode) {
        CufilePath path = options.get(CufileOptions.PATH);
        String why = CuFileLibrary.find(options).whyNot(mode);
        if (!why.isEmpty()) {
            throw unavailable(path, why);
        }
        CuFileSession cuFile = new CuFileSession(context, options, storages);
        CuFileSizes sizes = CuFileSizes.of(options);
        List<IoPath> ioPaths = new ArrayList<>();
        ioPaths.add(new CuFileIoPath(cuFile, mode, true, sizes, 0));
        if (path != CufilePath.DIRECT) {
            ioPaths.add(new CuFileIoPath(cuFile, mode, false, sizes, 0));
        }
        ioPaths.add(staged(context, options, "cuFile cannot carry this transfer"));
        return new CufilePaths(ioPaths, cuFile);
    }

    private static BackendUnavailableException unavailable(CufilePath path, String why) {
        return new BackendUnavailableException(
                CufileOptions.PATH + "=" + Option.show(path) + ", but " + why, Failure.NOT_STARTED, null);
    }

    private static IoPath staged(CudaContext context, Options options, String why) {
        Options sized = isOnlyGpu() ? StagingOptions.ofOnlyDevice(options) : options;
        return new StagedPath(context, sized, "through pinned staging buffers: " + why);
    }

    /** Returns whether the process sees one GPU. */
    private static boolean isOnlyGpu() {
        int[] count = new int[1];
        return Cuda.cuDeviceGetCount(count) == CudaError.SUCCESS && count[0] == 1;
    }
}
