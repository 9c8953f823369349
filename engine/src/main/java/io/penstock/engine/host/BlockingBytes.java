// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ffi.Errno;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.io.IOException;

/**
 * Reads and writes a {@link HostFile} by calls that block, for threads that may. Slots are registered with io_uring where that
 * saves processor time; where the kernel refuses, they do without.
 */
public final class BlockingBytes implements HostBytes {

    /** That of the process. */
    public static final BlockingBytes INSTANCE = new BlockingBytes(LinuxKernel.INSTANCE);

    private final Kernel kernel;
    private volatile String refusal = "";

    /** Makes one on a kernel of a test's. */
    public BlockingBytes(Kernel kernel) {
        this.kernel = kernel;
    }

    @Override
    public SlotBytes of(DeviceMemory slot) {
        return kernel.platform().isAvailable() ? new RegisteredSlot(kernel, this, slot) : this;
    }

    void refused(ErrnoException answer) {
        refusal = String.valueOf(answer.getMessage());
    }

    /** Says how large pieces go between slots and files that are opened past the page cache, and why, in the words of {@code doctor}. */
    public String slotFact() {
        String what = "slots, past the page cache: ";
        RingAvailability ring = RingProbe.probe(kernel);
        if (!ring.isAvailable()) {
            return what + "pread and pwrite, since io_uring cannot be used (" + ring.reason() + ": " + ring.detail()
                    + ")";
        }
        String said = refusal;
        return said.isEmpty()
                ? what + "registered with io_uring"
                : what + "pread and pwrite where io_uring has refused them (" + said
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
        return HostFailure.of(call(kind), result);
    }

    @Override
    public NativeFailure failure(Request.Kind kind, Throwable thrown) {
        return HostFailure.of(call(kind), thrown);
    }

    private static String call(Request.Kind kind) {
        return switch (kind) {
            case READ, COPY_IN, COPY_OUT -> "pread";
            case WRITE -> "pwrite";
            case SYNC -> "fdatasync";
        };
    }
}
