// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.driver;

import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;
import io.penstock.engine.spi.Shared;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * libcufile's driver; a process has one. Its first user opens it, which is slow. Sessions, files, registered memory,
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
public final class CuFileDriver {

    private static final Logger LOG = LoggerFactory.getLogger(CuFileDriver.class);

    private static final String PROCESS = "cuFile's driver";
    private static final Shared<String, CuFileDriver> OPEN = new Shared<>(unused -> {});

    private static final long EXIT_MILLIS = 200; // files are left behind the close of their backend

    // Written and read by openers; OPEN runs one at a time, and orders them.
    private static @Nullable CuFileDriver kept;
    private static @Nullable String closed; // why: the open driver refused its first user's settings

    private final CuFileSettings settings;
    private final DriverProperties properties;
    private final List<String> ignored;
    private final boolean ours;

    private CuFileDriver(CuFileSettings settings, DriverProperties properties, boolean ours) {
        this.settings = settings;
        this.properties = properties;
        this.ignored = settings.ignored(properties);
        this.ours = ours;
    }

    /**
     * Adds a user, and opens the driver for the process's first one; a CUDA context must be current.
     *
     * @param wanted the settings to open it with
     * @throws CuFileRefusal with libcufile's answer, or if it is open with other settings
     */
    public static CuFileDriver open(CuFileSettings wanted) throws CuFileRefusal {
        CuFileDriver driver = OPEN.open(PROCESS, () -> keptOrStarted(wanted));
        if (!wanted.equals(driver.settings)) {
            driver.leave();
            throw new CuFileRefusal("cuFile's driver is open in this process with " + driver.settings
                    + ", and cannot be opened a second time with " + wanted);
        }
        return driver;
    }

    private static CuFileDriver keptOrStarted(CuFileSettings wanted) throws CuFileRefusal {
        if (closed != null) {
            throw new CuFileRefusal("cuFile's driver is not opened twice in a process: " + closed);
        }
        CuFileDriver driver = kept;
        if (driver == null) {
            driver = start(wanted);
            if (driver.ours) {
                kept = driver;
                addExitHook();
            }
        }
        return driver;
    }

    private static void addExitHook() {
        Thread hook = new Thread(null, CuFileDriver::closeAtExit, "penstock-cufile-exit", 0, false);
        hook.setContextClassLoader(null);
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException e) {
            LOG.debug("cuFile's driver is opened while the JVM exits, and stays open");
        }
    }

    /** Closes the driver for good, unless it has users that do not leave. */
    static void closeAtExit() {
        long start = System.nanoTime();
        while (isUsed() && System.nanoTime() - start < EXIT_MILLIS * 1_000_000) {
            LockSupport.parkNanos(1_000_000);
        }
        try {
            OPEN.open(PROCESS, CuFileDriver::closeKept).leave();
        } catch (CuFileRefusal e) {
            LOG.debug("cuFile's driver is closed: {}", e.getMessage());
        }
    }

    private static CuFileDriver closeKept() throws CuFileRefusal {
        closed = "the JVM exits";
        if (kept != null) {
            shut(true);
        }
        throw new CuFileRefusal(closed);
    }

    private static CuFileDriver start(CuFileSettings wanted) throws CuFileRefusal {
        String request = "opening cuFile's driver";
        wanted.beforeOpening();
        long status = CuFile.cuFileDriverOpen();
        boolean ours = CuFile.error(status) != CuFileError.DRIVER_ALREADY_OPEN; // and not the application's
        if (ours) {
            CuFileRefusal.check(request, "cuFileDriverOpen", status);
        }
        CuFileDriver driver;
        try {
            wanted.afterOpening();
            driver = new CuFileDriver(wanted, readProperties(), ours);
        } catch (CuFileRefusal | RuntimeException | Error e) {
            closed = ours ? String.valueOf(e.getMessage()) : null;
            shut(ours);
            throw e;
        }
        LOG.debug("cuFile's driver is open: {}", driver.properties.describe());
        if (!driver.ignored.isEmpty()) {
            LOG.warn(
                    "cuFile's driver reports success for {}, but its setting does not change: {}",
                    driver.ignored,
                    driver.properties.lines());
        }
        return driver;
    }

    private static DriverProperties readProperties() throws CuFileRefusal {
        byte[] properties = new byte[CuFile.DRV_PROPS_BYTES];
        CuFileRefusal.check(
                "query of cuFile's driver", "cuFileDriverGetProperties", CuFile.cuFileDriverGetProperties(properties));
        return DriverProperties.of(properties);
    }

    /** Adds a user to the driver; returns null if it has none yet. */
    public static @Nullable CuFileDriver find() {
        return OPEN.find(PROCESS);
    }

    /** Adds a user to the driver, which another user must hold open. */
    public static CuFileDriver join() {
        CuFileDriver driver = find();
        if (driver == null) {
            throw new IllegalStateException("cuFile's driver is not open");
        }
        return driver;
    }

    /** Removes a user. */
    public void leave() {
        OPEN.leave(this);
    }

    /** Forgets the driver of a library that has none open; for tests, whose fakes can be made as new. */
    static void forget() {
        kept = null;
        closed = null;
    }

    private static void shut(boolean ours) {
        if (!ours) {
            return;
        }
        // cufile.h maps the first name to the second; libraries before 1.7 export only the first.
        boolean renamed = !CuFile.LIBRARY.absent().contains("cuFileDriverClose_v2");
        long status = renamed ? CuFile.cuFileDriverClose_v2() : CuFile.cuFileDriverClose();
        if (CuFile.error(status) != CuFileError.SUCCESS) {
            LOG.warn("cuFile's driver did not close: {}", CuFileError.describe(CuFile.error(status)));
        }
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
    public static boolean isUsed() {
        return OPEN.size() > 0;
    }
}
