// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * libcufile's driver, of which a process has one. It is opened by whoever uses it first, which takes long, and closed
 * when the last user has left: files, registered memory, streams and batches each are users, so that it goes last.
 *
 * <p><b>Threading:</b> thread-safe; opening and closing block.
 */
final class CuFileDriver {

    /** The one of this process. */
    static final CuFileDriver PROCESS = new CuFileDriver();

    private static final Logger LOG = LoggerFactory.getLogger(CuFileDriver.class);

    /** One user's claim on the driver. */
    final class Use implements AutoCloseable {

        private final AtomicBoolean left = new AtomicBoolean();

        /** Leaves; again is nothing. */
        @Override
        public void close() {
            if (left.compareAndSet(false, true)) {
                leave();
            }
        }
    }

    private int users; // this and all below: guarded by this
    private boolean isOurs; // and not opened by the application before us
    private @Nullable CuFileSettings settings; // of whoever opened it
    private @Nullable DriverProperties properties;
    private @Nullable BounceBudget bounces; // of all batches
    private List<String> ignored = List.of(); // options that the driver has not taken

    private CuFileDriver() {}

    /**
     * Opens the driver, unless it is open; a CUDA context is current.
     *
     * @param wanted counts for whoever comes first
     * @throws CuFileRefusal with libcufile's answer, or where it is open with other settings
     */
    synchronized Use use(CuFileSettings wanted) throws CuFileRefusal {
        if (users == 0) {
            open(wanted);
            settings = wanted;
        } else if (!wanted.equals(settings)) {
            throw new CuFileRefusal("cuFile's driver is open in this process with " + settings
                    + ", and cannot be opened beside that with " + wanted);
        }
        users++;
        return new Use();
    }

    /** Counts one more user, only for one who is a user already. */
    synchronized Use again() {
        if (users == 0) {
            throw new IllegalStateException("cuFile's driver is not open");
        }
        users++;
        return new Use();
    }

    private void open(CuFileSettings wanted) throws CuFileRefusal {
        String request = "opening cuFile's driver";
        wanted.beforeOpening();
        long status = CuFile.cuFileDriverOpen();
        isOurs = CuFile.error(status) != CuFileError.DRIVER_ALREADY_OPEN;
        if (isOurs) {
            CuFileRefusal.check(request, "cuFileDriverOpen", status);
        }
        try {
            wanted.afterOpening();
            properties = readProperties();
            bounces = BounceBudget.of(properties);
        } catch (CuFileRefusal | RuntimeException | Error e) {
            shut();
            throw e;
        }
        LOG.debug("cuFile's driver is open: {}", properties.describe());
        ignored = wanted.ignored(properties);
        if (!ignored.isEmpty()) {
            LOG.warn("cuFile's driver answers success to {} and does not change: {}", ignored, properties.lines());
        }
    }

    private static DriverProperties readProperties() throws CuFileRefusal {
        byte[] properties = new byte[CuFile.DRV_PROPS_BYTES];
        CuFileRefusal.check(
                "the look at cuFile's driver",
                "cuFileDriverGetProperties",
                CuFile.cuFileDriverGetProperties(properties));
        return DriverProperties.of(properties);
    }

    private synchronized void leave() {
        if (--users == 0) {
            shut();
            LOG.debug("cuFile's driver is closed");
        }
    }

    private void shut() {
        properties = null;
        bounces = null;
        settings = null;
        if (!isOurs) {
            return;
        }
        // cufile.h maps the first name to the second; libraries before 1.7 have the first only.
        boolean renamed = !CuFile.absent().contains("cuFileDriverClose_v2");
        long status = renamed ? CuFile.cuFileDriverClose_v2() : CuFile.cuFileDriverClose();
        if (CuFile.error(status) != CuFileError.SUCCESS) {
            LOG.warn("cuFile's driver did not close: {}", CuFileError.describe(CuFile.error(status)));
        }
    }

    /** Returns what the driver says of itself; null where it is not open. */
    synchronized @Nullable DriverProperties properties() {
        return properties;
    }

    /** Returns the names of the options that the open driver has accepted and not taken. */
    synchronized List<String> ignored() {
        return ignored;
    }

    /** Returns what is left of its bounce buffers; null where it is not open. */
    synchronized @Nullable BounceBudget bounces() {
        return bounces;
    }

    /** Returns its counters; {@link DriverStatistics#NONE} where it is not open. */
    synchronized DriverStatistics statistics() {
        return users == 0 ? DriverStatistics.NONE : DriverStatistics.read();
    }

    /** Returns how many use it; 0 means that it is closed. */
    synchronized int users() {
        return users;
    }
}
