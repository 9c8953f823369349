// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.blocking;

import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.host.kernel.LinuxKernel;
import io.penstock.engine.host.kernel.RingAvailability;
import io.penstock.engine.host.uring.RingProbe;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import java.io.IOException;

/**
 * Reads and writes a {@link HostFile} by blocking calls, for threads that may block. Staging buffers are registered
 * with io_uring where that saves processor time; where the kernel refuses, they are used unregistered.
 */
public final class BlockingBytes implements HostBytes {

    /** The instance of the process. */
    public static final BlockingBytes INSTANCE = new BlockingBytes(LinuxKernel.INSTANCE);

    private final Kernel kernel;
    private volatile String refusal = "";

    /** Creates an instance over a simulated kernel; for tests. */
    public BlockingBytes(Kernel kernel) {
        this.kernel = kernel;
    }

    @Override
    public BufferBytes of(DeviceMemory staging) {
        return kernel.platform().isAvailable() ? new RegisteredBuffer(kernel, this, this::refused, staging) : this;
    }

    private void refused(ErrnoException answer) {
        refusal = String.valueOf(answer.getMessage());
    }

    /**
     * Returns how large segments are moved between staging buffers and files that bypass the page cache, and why,
     * worded for {@code doctor}.
     */
    public String bufferFact() {
        String what = "staging buffers, past the page cache: ";
        RingAvailability ring = RingProbe.probe(kernel);
        if (!ring.isAvailable()) {
            return what + "pread and pwrite, since io_uring cannot be used (" + ring.reason() + ": " + ring.detail()
                    + ")";
        }
        String refused = refusal;
        return refused.isEmpty()
                ? what + "registered with io_uring"
                : what + "pread and pwrite where io_uring has refused them (" + refused
                        + "; ulimit -l limits what is registered)";
    }

    @Override
    public long read(NativeFile file, long fileOffset, long address, long bytes) throws IOException {
        long got;
        do {
            got = ((HostFile) file).read(fileOffset, address, bytes);
        } while (got == -Errno.EINTR);
        return got;
    }

    @Override
    public long write(NativeFile file, long fileOffset, long address, long bytes) throws IOException {
        long put;
        do {
            put = ((HostFile) file).write(fileOffset, address, bytes);
        } while (put == -Errno.EINTR);
        return put;
    }

    @Override
    public long sync(NativeFile file) throws IOException {
        return ((HostFile) file).sync(); // never again after a failure (rule 403)
    }

    @Override
    public long blockBytes(NativeFile file) {
        return Math.max(file.limits().fileAlignment(), file.limits().memoryAlignment());
    }

    @Override
    public void move(long target, long source, long bytes) {
        NativeMemory.move(target, source, bytes);
    }

    @Override
    public NativeFailure failure(Request.Kind kind, long result) {
        return HostFailure.of(kind, result);
    }

    @Override
    public NativeFailure failure(Request.Kind kind, Throwable thrown) {
        return HostFailure.of(kind, thrown);
    }
}
