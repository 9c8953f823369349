// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.ffi.Errno;
import io.penstock.engine.ffi.NativeMemory;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.staging.HostBytes;
import java.io.IOException;

/** Reads and writes a {@link HostFile} by calls that block, for threads that may. */
public final class BlockingBytes implements HostBytes {

    /** The only one: it has no state. */
    public static final BlockingBytes INSTANCE = new BlockingBytes();

    private BlockingBytes() {}

    @Override
    public long read(NativeFile file, long fileOffset, long address, long bytes) {
        long got;
        do {
            got = ((HostFile) file).read(fileOffset, address, bytes);
        } while (got == -Errno.EINTR);
        return got;
    }

    @Override
    public long write(NativeFile file, long fileOffset, long address, long bytes) {
        long put;
        do {
            put = ((HostFile) file).write(fileOffset, address, bytes);
        } while (put == -Errno.EINTR);
        return put;
    }

    @Override
    public long sync(NativeFile file) {
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

    /** Returns the negative number for {@link #failure} that stands for what a {@link HostFile} has thrown. */
    public long result(IOException thrown) {
        return ChannelErrors.result(thrown);
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        return HostFailure.of(
                switch (kind) {
                    case READ, COPY_IN, COPY_OUT -> "pread";
                    case WRITE -> "pwrite";
                    case SYNC -> "fdatasync";
                },
                result);
    }
}
