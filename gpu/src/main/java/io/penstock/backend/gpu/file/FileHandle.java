// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.file;

import io.penstock.backend.gpu.api.ErrorCodes;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.api.FileRefusal;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.NativeFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A descriptor registered with the file API: one handle, shared by all paths of a backend.
 *
 * <p><b>Ownership:</b> {@link FileHandles} counts its users. After the last, the handle is deregistered while the
 * descriptor is still open, then the descriptor is closed, and then the driver is left.
 */
public final class FileHandle {

    private static final Logger LOG = LoggerFactory.getLogger(FileHandle.class);

    /** Whether this process has already logged that batches refuse a file. */
    private static final AtomicBoolean LOGGED = new AtomicBoolean();

    private final HostFile linux;
    private final long handle;
    private final StorageKind kind;
    private final FileDriver driver;
    private volatile boolean batchesRefused;
    private volatile int refused; // the error with which the file API refused the file, or 0

    private FileHandle(HostFile linux, long handle, StorageKind kind, FileDriver driver) {
        this.linux = linux;
        this.handle = handle;
        this.kind = kind;
        this.driver = driver;
    }

    /**
     * Registers an open file.
     *
     * @param linux closed if this fails
     * @throws FileRefusal with its answer
     */
    static FileHandle register(FileApi files, HostFile linux, StorageKind kind) throws FileRefusal {
        FileDriver driver = FileDriver.join(files);
        try {
            byte[] descr = new byte[FileApi.DESCR_BYTES];
            ByteBuffer.wrap(descr)
                    .order(ByteOrder.nativeOrder())
                    .putInt(FileApi.DESCR_TYPE_OFFSET, FileApi.HANDLE_TYPE_OPAQUE_FD)
                    .putInt(FileApi.DESCR_FD_OFFSET, linux.fd());
            long[] handle = new long[1];
            String request = files.product() + "'s handle for " + linux.path().getFileName();
            files.check(request, "handleRegister", files.handleRegister(handle, descr));
            return new FileHandle(linux, handle[0], kind, driver);
        } catch (FileRefusal | RuntimeException | Error e) {
            driver.leave();
            try (linux) {
                throw e; // also if the close fails
            }
        }
    }

    HostFile linux() {
        return linux;
    }

    /** Returns the file API's handle. */
    public long id() {
        return handle;
    }

    public StorageKind kind() {
        return kind;
    }

    /** Deregisters and closes it; it must have no users. */
    void close() {
        driver.files().handleDeregister(handle);
        try {
            linux.close();
        } finally {
            driver.leave();
        }
    }

    /** Records a failed call; any thread. */
    public void failed(NativeFailure failure) {
        int error = (int) failure.error().code(); // other codes are smaller
        if (driver.files().meaning(error) == ErrorCodes.Meaning.FALL_OVER) {
            refused = error;
        }
    }

    /** Returns false once batches have refused this file; any thread. */
    public boolean takesBatches() {
        return !batchesRefused;
    }

    /** Records that batches refuse this file; any thread. */
    public void refusesBatches(int error) {
        batchesRefused = true;
        if (LOGGED.compareAndSet(false, true)) {
            LOG.info(
                    "some files use calls instead of batches: {} -> {} for {}",
                    driver.files().call("batchIOSubmit"),
                    driver.files().describe(error),
                    linux.path().getFileName());
        }
    }

    /** Returns why the file API refuses further transfers of this file, or an empty string. */
    public String refusal() {
        int error = refused;
        FileApi files = driver.files();
        return error == 0 ? "" : files.product() + " has refused this file with " + files.describe(error);
    }
}
