// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.simulation.SimulatedFile.Snapshot;
import io.penstock.engine.simulation.SimulatedMemory.Given;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/** A read, write or sync that the kernel has: its arguments, and how it ends. */
final class Operation {
    final long userData;
    private final byte opcode;
    private final Descriptor descriptor;
    private final SimulatedFile file;
    private final boolean direct;
    private final long offset;
    private final int bytes;
    private final @Nullable Given memory;
    private final byte[] early; // of a write: what was taken at once
    private final @Nullable Snapshot snapshot; // of a sync
    boolean over;
    int interruption; // what a cancel makes of it, or 0

    /** Where and how much. */
    record Extent(long offset, int bytes) {}

    Operation(long userData, byte opcode, Descriptor descriptor, Extent extent, @Nullable Given memory, int early) {
        this.userData = userData;
        this.opcode = opcode;
        this.descriptor = descriptor;
        this.file = descriptor.file;
        this.direct = descriptor.direct;
        this.offset = extent.offset;
        this.bytes = extent.bytes;
        this.memory = memory;
        this.early = new byte[memory == null || !isWrite() ? 0 : early];
        if (memory != null) {
            memory.touch().get(this.early);
        }
        snapshot = opcode == IoUring.IORING_OP_FSYNC ? file.beginSync() : null;
    }

    /** A file as it was opened. */
    static final class Descriptor {
        final SimulatedFile file;
        final boolean direct;
        int reportedErrors; // each failed write-back is reported once to each open file (fsync(2))

        Descriptor(SimulatedFile file, boolean direct) {
            this.file = file;
            this.direct = direct;
            reportedErrors = file.writeBackErrors();
        }
    }

    SimulatedFile file() {
        return file;
    }

    boolean isWrite() {
        return opcode == IoUring.IORING_OP_WRITE || opcode == IoUring.IORING_OP_WRITE_FIXED;
    }

    boolean isSync() {
        return snapshot != null;
    }

    /** Returns whether it is a request that the kernel refuses at once. */
    boolean isMisaligned(long address) {
        return direct
                && !isSync()
                && ((offset | bytes) % file.fileAlignment != 0 || address % file.memoryAlignment != 0);
    }

    /** Executes it, as far as chance lets it; returns its result. */
    int end(Chance chance, Faults faults, ObjIntConsumer<SimulatedFile> errorNoted) {
        over = true;
        if (interruption != 0) {
            return interruption;
        }
        if (chance.oneIn(faults.again()) && !isSync()) {
            return chance.oneIn(2) ? -Errno.EAGAIN : -Errno.EINTR;
        }
        if (chance.oneIn(faults.error())) {
            if (snapshot != null) {
                file.endSync(snapshot, false);
                descriptor.reportedErrors = file.writeBackErrors();
            }
            int errno = isWrite() && chance.oneIn(2) ? Errno.ENOSPC : Errno.EIO;
            errno = !isSync() && chance.oneIn(5) ? Errno.ECANCELED : errno;
            errorNoted.accept(file, errno);
            return -errno;
        }
        if (snapshot != null) {
            file.endSync(snapshot, true);
            boolean reported = descriptor.reportedErrors == file.writeBackErrors();
            descriptor.reportedErrors = file.writeBackErrors();
            return reported ? 0 : -Errno.EIO;
        }
        return move(chance.oneIn(faults.shortCount()) ? shorter(chance) : bytes);
    }

    private int move(int most) {
        Given given = memory;
        if (given == null || most == 0) {
            return 0;
        }
        return isWrite() ? file.write(offset, early, given.touch(), most) : file.read(offset, given, most);
    }

    private int shorter(Chance chance) {
        int unit = direct ? file.fileAlignment : 1;
        int units = bytes / unit;
        return units < 2 ? bytes : chance.between(1, units - 1) * unit;
    }

    @Override
    public String toString() {
        String what = isSync() ? "sync" : isWrite() ? "write" : "read";
        return what + " of " + bytes + " at " + offset + " of " + file.name + " (" + Long.toHexString(userData) + ")";
    }
}
