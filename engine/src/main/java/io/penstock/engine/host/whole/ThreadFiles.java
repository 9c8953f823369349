// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.whole;

import io.penstock.engine.kit.CallThreads;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Wakeup;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.function.Consumer;

/** Whole files by blocking calls of the JDK on a few threads: any file system, on any operating system. */
public final class ThreadFiles implements WholeFiles {

    /** The most that is read of a file that states no size, such as a file of /proc. */
    private static final int MOST_UNSTATED = 4 << 20;

    private static final CallThreads.Calls<WholeFile> CALLS = new CallThreads.Calls<>() {
        @Override
        public void make(WholeFile file) throws IOException {
            if (file.isPlaced()) {
                fill(file);
            } else {
                size(file);
            }
        }

        @Override
        public void fail(WholeFile file, Throwable cause) {
            close(file);
            file.fail(told(file, cause));
        }
    };

    private final String reason;
    private final Consumer<? super WholeFile> read;
    private final CallThreads<WholeFile> threads;
    private int inFlight;

    /**
     * Creates it, without a thread.
     *
     * @param depth the most files in flight
     * @param most the most threads
     * @param wakeup woken when a call has ended
     * @param reason why files go this way
     * @param read gets each file whose reading has ended
     */
    public ThreadFiles(int depth, int most, Wakeup wakeup, String reason, Consumer<? super WholeFile> read) {
        this.reason = reason;
        this.read = read;
        threads = new CallThreads<>("penstock-pack-", Math.min(most, depth), depth, wakeup, CALLS);
    }

    @Override
    public void open(WholeFile file) {
        open(file, reason);
    }

    void open(WholeFile file, String why) {
        file.again();
        file.goesBy(why);
        begin(file);
    }

    @Override
    public void read(WholeFile file) {
        begin(file);
    }

    private void begin(WholeFile file) {
        inFlight++;
        threads.begin(file);
    }

    @Override
    public void release(WholeFile file) {
        close(file);
        file.again();
    }

    @Override
    public void turn(boolean waits) {
        if (take() == 0 && waits) {
            threads.wakeup().await(-1);
            take();
        }
    }

    /** Takes what has ended; returns how much. */
    int take() {
        int count = 0;
        for (WholeFile file = threads.poll(); file != null; file = threads.poll()) {
            count++;
            inFlight--;
            if (file.isOpened()) {
                read.accept(file);
            } else {
                file.opened();
            }
        }
        return count;
    }

    @Override
    public int inFlight() {
        return inFlight;
    }

    @Override
    public Wakeup wakeup() {
        return threads.wakeup();
    }

    @Override
    public void close() {
        threads.close();
    }

    private static void size(WholeFile file) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(file.path(), BasicFileAttributes.class);
        if (!attributes.isRegularFile()) {
            file.refuseKind(attributes.isDirectory());
            return;
        }
        if (attributes.size() == 0) {
            try (InputStream in = Files.newInputStream(file.path())) {
                byte[] content = in.readNBytes(MOST_UNSTATED + 1);
                if (content.length > MOST_UNSTATED) {
                    throw new FileSystemException(
                            file.path().toString(), null, "states no size, and has more than 4 MiB: stream it");
                }
                file.content = content;
                file.sized(content.length);
            }
            return;
        }
        file.channel = FileChannel.open(file.path(), StandardOpenOption.READ);
        file.sized(file.channel.size());
    }

    private static void fill(WholeFile file) throws IOException {
        ByteBuffer target = window(file.memory(), file.offset, (int) file.bytes());
        if (file.content != null) {
            target.put(file.content);
        } else {
            FileChannel channel = Objects.requireNonNull(file.channel);
            while (target.hasRemaining()) {
                if (channel.read(target, target.position()) <= 0) {
                    file.moved = target.position();
                    file.endedEarly();
                    break;
                }
            }
        }
        close(file);
    }

    private static ByteBuffer window(DeviceMemory memory, long offset, int bytes) {
        return memory instanceof HostMemory host
                ? host.buffer(offset, bytes)
                : NativeMemory.view(memory.hostAddress() + offset, bytes);
    }

    private static void close(WholeFile file) {
        FileChannel channel = file.channel;
        file.channel = null;
        file.content = null;
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                // nothing was written that could be lost, and the call must end
            }
        }
    }

    private static Exception told(WholeFile file, Throwable cause) {
        Exception limit = cause instanceof IOException refused ? HostFailure.ofLimit(file.path(), refused) : null;
        if (limit != null) {
            return limit;
        }
        return cause instanceof Exception known ? known : new IOException(file + ": " + cause, cause);
    }
}
