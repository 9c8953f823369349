// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One command of a {@link ChannelQueue}, filled again and again.
 *
 * <p><b>Threading:</b> the lane's, except between the queue of waiting tasks and that of ended ones, when it is one
 * pool thread's; those queues order the accesses.
 */
final class ChannelTask {
    /** Results from here down stand for what the command of an id has thrown. */
    static final long THREW = HostFailure.LAST;

    final int id;
    long result;

    @Nullable
    Throwable thrown; // by the call, until the next command

    private Command.Kind kind = Command.Kind.SYNC;
    private @Nullable NativeFile file;
    private @Nullable DeviceMemory memory;
    private long fileOffset;
    private long memoryOffset;
    private long bytes;

    ChannelTask(int id) {
        this.id = id;
    }

    void fill(Command command) {
        kind = command.kind();
        file = command.file();
        memory = kind == Command.Kind.SYNC ? null : command.memory();
        fileOffset = command.fileOffset();
        memoryOffset = command.memoryOffset();
        bytes = command.bytes();
        thrown = null;
    }

    /** Makes the call, which blocks; never throws. */
    void run() {
        try {
            ChannelFile channel = (ChannelFile) Objects.requireNonNull(file);
            result = switch (kind) {
                case READ -> channel.read(fileOffset, buffer());
                case WRITE -> channel.write(fileOffset, buffer());
                case SYNC -> channel.sync();
                case COPY_IN, COPY_OUT -> throw new IllegalStateException("copies are made by the lane");
            };
        } catch (IOException | RuntimeException | Error broken) {
            thrown = broken;
            result = THREW - id;
        }
    }

    /** Lets go of file and memory. */
    void forget() {
        file = null;
        memory = null;
    }

    private ByteBuffer buffer() {
        return InlineCommands.buffer(Objects.requireNonNull(memory), memoryOffset, Math.toIntExact(bytes));
    }
}
