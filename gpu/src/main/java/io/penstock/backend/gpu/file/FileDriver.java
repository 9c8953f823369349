// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.file;

import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.api.FileRefusal;
import io.penstock.engine.spi.Shared;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver of a file API; a process has one of each. Its first user opens it, which is slow. Sessions, files, registered memory,
 * streams and batches are users.
 *
 * <p><b>Lifetime:</b> the driver stays open until the process ends, and keeps the settings of its first user. A driver
 * that was closed must not be opened again: libcufile 1.15 has an object for each thread that has called it, deletes
 * these objects at the next opening, and writes into a deleted one when its thread ends, which may be in other use by
 * then ({@code tools/benchmarks/experiments/reopened.c}). A driver without users is closed when the JVM exits: threads of
 * libcufile, which count statistics, otherwise run into what the exit has torn down. A driver that the application has
 * opened is left to the application.
 *
 * <p><b>Threading:</b> thread-safe; opening blocks.
 */
public final class FileDriver {

    private static final Logger LOG = LoggerFactory.getLogger(FileDriver.class);

    private static final Map<FileApi, OfProcess> PROCESSES = new ConcurrentHashMap<>();

    private static final long EXIT_MILLIS = 200; // files are left behind the close of their backend

    /** What this process has of one file API. */
    private static final class OfProcess {

        final Shared<OfProcess, FileDriver> open = new Shared<>(unused -> {});

        // Written and read by openers; they run one at a time, which orders them.
        @Nullable
        FileDriver kept;

        @Nullable
        String closed; // why: the open driver refused its first user's settings

        static OfProcess of(FileApi files) {
            return PROCESSES.computeIfAbsent(files, unused -> new OfProcess());
        }
    }

    private final FileApi files;
    private final FileSettings settings;
    private final DriverProperties properties;
    private final List<String> ignored;
    private final boolean ours;

    private FileDriver(FileApi files, FileSettings settings, DriverProperties properties, boolean ours) {
        this.files = files;
        this.settings = settings;
        this.properties = properties;
        this.ignored = settings.ignored(properties);
        this.ours = ours;
    }

    /**
     * Adds a user, and opens the driver for the process's first one; a context must be current.
     *
     * @param wanted the settings to open it with
     * @throws FileRefusal with its answer, or if it is open with other settings
     */
    public static FileDriver open(FileApi files, FileSettings wanted) throws FileRefusal {
        OfProcess process = OfProcess.of(files);
        FileDriver driver = process.open.open(process, () -> keptOrStarted(process, files, wanted));
        if (!wanted.equals(driver.settings)) {
            driver.leave();
            throw new FileRefusal(files.product() + "'s driver is open in this process with " + driver.settings
                    + ", and cannot be opened a second time with " + wanted);
        }
        return driver;
    }

    private static FileDriver keptOrStarted(OfProcess process, FileApi files, FileSettings wanted) throws FileRefusal {
        if (process.closed != null) {
            throw new FileRefusal(files.product() + "'s driver is not opened twice in a process: " + process.closed);
        }
        FileDriver driver = process.kept;
        if (driver == null) {
            driver = start(process, files, wanted);
            if (driver.ours) {
                process.kept = driver;
                addExitHook(files);
            }
        }
        return driver;
    }

    private static void addExitHook(FileApi files) {
        String name = "penstock-" + files.prefix() + "-exit";
        Thread hook = new Thread(null, () -> closeAtExit(files), name, 0, false);
        hook.setContextClassLoader(null);
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException e) {
            LOG.debug("{}'s driver is opened while the JVM exits, and stays open", files.product());
        }
    }

    /** Closes the driver for good, unless it has users that do not leave. */
    static void closeAtExit(FileApi files) {
        long start = System.nanoTime();
        while (isUsed(files) && System.nanoTime() - start < EXIT_MILLIS * 1_000_000) {
            LockSupport.parkNanos(1_000_000);
        }
        try {
            OfProcess process = OfProcess.of(files);
            process.open.open(process, () -> closeKept(process, files)).leave();
        } catch (FileRefusal e) {
            LOG.debug("{}'s driver is closed: {}", files.product(), e.getMessage());
        }
    }

    private static FileDriver closeKept(OfProcess process, FileApi files) throws FileRefusal {
        process.closed = "the JVM exits";
        if (process.kept != null) {
            shut(files);
        }
        throw new FileRefusal(process.closed);
    }

    private static FileDriver start(OfProcess process, FileApi files, FileSettings wanted) throws FileRefusal {
        String request = "opening " + files.product() + "'s driver";
        wanted.beforeOpening();
        long status = files.driverOpen();
        boolean ours = FileApi.error(status) != FileApi.DRIVER_ALREADY_OPEN; // and not the application's
        if (ours) {
            files.check(request, "driverOpen", status);
        }
        FileDriver driver;
        try {
            wanted.afterOpening();
            driver = new FileDriver(files, wanted, files.properties(), ours);
        } catch (FileRefusal | RuntimeException | Error e) {
            if (ours) {
                process.closed = String.valueOf(e.getMessage());
                shut(files);
            }
            throw e;
        }
        LOG.debug("{}'s driver is open: {}", files.product(), driver.properties.describe());
        if (!driver.ignored.isEmpty()) {
            LOG.warn(
                    "{}'s driver reports success for {}, but its setting does not change: {}",
                    files.product(),
                    driver.ignored,
                    driver.properties.lines());
        }
        return driver;
    }

    /** Adds a user to the driver; returns null if it has none yet. */
    public static @Nullable FileDriver find(FileApi files) {
        OfProcess process = OfProcess.of(files);
        return process.open.find(process);
    }

    /** Adds a user to the driver, which another user must hold open. */
    public static FileDriver join(FileApi files) {
        FileDriver driver = find(files);
        if (driver == null) {
            throw new IllegalStateException(files.product() + "'s driver is not open");
        }
        return driver;
    }

    /** Removes a user. */
    public void leave() {
        OfProcess.of(files).open.leave(this);
    }

    /** Forgets the driver of a library that has none open; for tests, whose fakes can be made as new. */
    static void forget(FileApi files) {
        OfProcess.of(files).kept = null;
        OfProcess.of(files).closed = null;
    }

    private static void shut(FileApi files) {
        int error = FileApi.error(files.driverClose());
        if (error != FileApi.SUCCESS) {
            LOG.warn("{}'s driver did not close: {}", files.product(), files.describe(error));
        }
    }

    /** Returns the file API that this is the driver of. */
    public FileApi files() {
        return files;
    }

    /** Returns the properties that the driver reported when it was opened. */
    public DriverProperties properties() {
        return properties;
    }

    /** Returns the names of the options that the driver accepted but did not apply. */
    public List<String> ignored() {
        return ignored;
    }

    /** Returns true if the driver has a user, or is being opened for one. */
    public static boolean isUsed(FileApi files) {
        return OfProcess.of(files).open.size() > 0;
    }
}
