// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.file;

import io.penstock.backend.cufile.driver.CuFileDriver;
import io.penstock.backend.cufile.driver.CuFileRefusal;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.NativeFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A descriptor registered with cuFile: one handle, shared by all paths of a backend.
 *
 * <p><b>Ownership:</b> {@link CuFileHandles} counts its users. After the last, the handle is deregistered while the
 * descriptor is still open, then the descriptor is closed, and then the driver is left.
 */
public final class CuFileHandle {

    private static final Logger LOG = LoggerFactory.getLogger(CuFileHandle.class);

    /** Whether this process has already logged that batches refuse a file. */
    private static final AtomicBoolean LOGGED = new AtomicBoolean();

    private final HostFile linux;
    private final long handle;
    private final StorageKind kind;
    private final CuFileDriver driver;
    private volatile boolean batchesRefused;
    private volatile int refused; // the CUfileOpError with which cuFile refused the file, or 0

    private CuFileHandle(HostFile linux, long handle, StorageKind kind, CuFileDriver driver) {
        this.linux = linux;
        this.handle = handle;
        this.kind = kind;
        this.driver = driver;
    }

    /**
     * Registers an open file.
     *
     * @param linux closed if this fails
     * @throws CuFileRefusal with cuFile's answer
     */
    static CuFileHandle register(HostFile linux, StorageKind kind) throws CuFileRefusal {
        CuFileDriver driver = CuFileDriver.join();
        try {
            byte[] descr = new byte[CuFile.DESCR_BYTES];
            ByteBuffer.wrap(descr)
                    .order(ByteOrder.nativeOrder())
                    .putInt(CuFile.DESCR_TYPE_OFFSET, CuFile.CU_FILE_HANDLE_TYPE_OPAQUE_FD)
                    .putInt(CuFile.DESCR_FD_OFFSET, linux.fd());
            long[] handle = new long[1];
            String request = "cuFile's handle for " + linux.path().getFileName();
            CuFileRefusal.check(request, "cuFileHandleRegister", CuFile.cuFileHandleRegister(handle, descr));
            return new CuFileHandle(linux, handle[0], kind, driver);
        } catch (CuFileRefusal | RuntimeException | Error e) {
            driver.leave();
            try (linux) {
                throw e; // also if the close fails
            }
        }
    }

    HostFile linux() {
        return linux;
    }

    long handle() {
        return handle;
    }

    public StorageKind kind() {
        return kind;
    }

    /** Deregisters and closes it; it must have no users. */
    void close() {
        CuFile.cuFileHandleDeregister(handle);
        try {
            linux.close();
        } finally {
            driver.leave();
        }
    }

    /** Records a failed call; any thread. */
    void failed(NativeFailure failure) {
        int error = (int) failure.error().code(); // other codes are smaller than cuFile's
        if (CuFileError.meaning(error) == CuFileError.Meaning.FALL_OVER) {
            refused = error;
        }
    }

    /** Returns false once batches have refused this file; any thread. */
    boolean takesBatches() {
        return !batchesRefused;
    }

    /** Records that batches refuse this file; any thread. */
    void refusesBatches(int error) {
        batchesRefused = true;
        if (LOGGED.compareAndSet(false, true)) {
            LOG.info(
                    "some files use calls instead of batches: cuFileBatchIOSubmit -> {} for {}",
                    CuFileError.describe(error),
                    linux.path().getFileName());
        }
    }

    /** Returns why cuFile refuses further transfers of this file, or an empty string. */
    String refusal() {
        int error = refused;
        return error == 0 ? "" : "cuFile has refused this file with " + CuFileError.describe(error);
    }
}
