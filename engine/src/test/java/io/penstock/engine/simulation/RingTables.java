// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.simulation.Operation.Descriptor;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A ring's registered files and buffers, refused by chance. */
final class RingTables {

    private record Range(long address, long bytes) {}

    private final SimulatedKernel kernel;
    private final boolean refusesFiles;
    private final boolean refusesBuffers;
    private @Nullable Descriptor[] files = {};
    private @Nullable Range[] buffers = {};

    RingTables(SimulatedKernel kernel) {
        this.kernel = kernel;
        refusesFiles = kernel.world.chance.oneIn(6);
        refusesBuffers = kernel.world.chance.oneIn(6);
    }

    @Nullable
    Descriptor file(int index) {
        return index >= 0 && index < files.length ? files[index] : null;
    }

    boolean holds(int index, long address, long bytes) {
        Range range = index < buffers.length ? buffers[index] : null;
        return range != null && address >= range.address && address + bytes <= range.address + range.bytes;
    }

    int register(int opcode, long argument, int count) {
        return switch (opcode) {
            case IoUring.IORING_REGISTER_FILES -> {
                files = new Descriptor[refusesFiles ? 0 : count];
                yield refusesFiles ? -Errno.ENOMEM : 0;
            }
            case IoUring.IORING_REGISTER_FILES_UPDATE -> updateFile(NativeMemory.view(argument, 16));
            case IoUring.IORING_REGISTER_BUFFERS2 -> {
                buffers = new Range
                        [refusesBuffers ? 0 : NativeMemory.view(argument, 32).getInt(0)];
                yield refusesBuffers ? -Errno.EINVAL : 0;
            }
            case IoUring.IORING_REGISTER_BUFFERS_UPDATE -> updateBuffer(NativeMemory.view(argument, 32));
            case IoUring.IORING_REGISTER_PROBE -> {
                ByteBuffer probe = NativeMemory.view(argument, 16 + 8L * count);
                for (int i = 0; i < count; i++) {
                    probe.putShort(16 + 8 * i + 2, (short) IoUring.IO_URING_OP_SUPPORTED);
                }
                yield 0;
            }
            default -> -Errno.EINVAL;
        };
    }

    private int updateFile(ByteBuffer update) {
        int fd = NativeMemory.view(update.getLong(8), 4).getInt(0);
        files[update.getInt(0)] = kernel.files.descriptor(fd);
        return 1;
    }

    private int updateBuffer(ByteBuffer update) {
        ByteBuffer range = NativeMemory.view(update.getLong(8), 16);
        long bytes = range.getLong(8);
        if (bytes != 0 && kernel.world.chance.oneIn(8)) {
            return -Errno.ENOMEM;
        }
        buffers[update.getInt(0)] = bytes == 0 ? null : new Range(range.getLong(0), bytes);
        return 1;
    }
}
