// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import io.penstock.engine.host.file.ChannelFile;
import io.penstock.engine.kit.CallThreads;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The blocking call for a request, one object per tag.
 *
 * <p><b>Threading:</b> the I/O queue's thread, except while a thread of {@link CallThreads} owns it.
 */
final class ChannelCall {

    /** How these calls are made. */
    static final CallThreads.Calls<ChannelCall> CALLS = new CallThreads.Calls<>() {
        @Override
        public void make(ChannelCall call) throws IOException {
            call.ended(call.call());
        }

        @Override
        public void fail(ChannelCall call, Throwable cause) {
            call.failure = HostFailure.of(call.name(), cause);
        }
    };

    private final Request request;
    private long moved;
    private @Nullable NativeFailure failure;

    private ChannelCall(Request request) {
        this.request = request;
    }

    /** Returns the call of a request. */
    static ChannelCall of(Request request) {
        return request.attachment(ChannelCall.class, ChannelCall::new);
    }

    private long call() throws IOException {
        HostFile file = (HostFile) request.file();
        ChannelFile channel = file instanceof ChannelFile known ? known : null;
        return switch (request.kind()) {
            case READ -> read(file, channel);
            case WRITE ->
                channel != null
                        ? channel.write(request.fileOffset(), buffer())
                        : file.write(request.fileOffset(), request.hostAddress(), request.bytes());
            case SYNC -> file.sync();
            case COPY_IN, COPY_OUT -> throw new IllegalStateException("copies are executed by the I/O queue");
        };
    }

    private long read(HostFile file, @Nullable ChannelFile channel) throws IOException {
        long got;
        int vain = 0;
        do {
            got = channel != null
                    ? channel.read(request.fileOffset(), buffer())
                    : file.read(request.fileOffset(), request.hostAddress(), request.bytes());
        } while (got == 0 && request.bytes() > 0 && file.goesOnAt(request.fileOffset(), vain++));
        return got;
    }

    private void ended(long answer) {
        moved = answer;
        failure = answer < 0 ? HostFailure.of(name(), answer) : null;
    }

    /** Completes it as cancelled: no thread has begun it. */
    void cancelled() {
        ended(-Errno.ECANCELED);
    }

    /** Completes the request; I/O queue only. */
    private void report() {
        NativeFailure cause = failure;
        failure = null;
        request.end(moved, cause);
    }

    /** Completes the requests whose calls have ended; returns their number. */
    static int report(CallThreads<ChannelCall> threads) {
        int count = 0;
        for (ChannelCall call = threads.poll(); call != null; call = threads.poll()) {
            count++;
            call.report();
        }
        return count;
    }

    private String name() {
        if (!(request.file() instanceof ChannelFile)) {
            return HostFailure.call(request.kind());
        }
        return switch (request.kind()) {
            case READ -> "FileChannel.read";
            case WRITE -> "FileChannel.write";
            case SYNC -> "FileChannel.force";
            case COPY_IN, COPY_OUT -> "ByteBuffer.put";
        };
    }

    private ByteBuffer buffer() {
        return InlineRequests.buffer(request.memory(), request.memoryOffset(), Math.toIntExact(request.bytes()));
    }
}
