// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import io.penstock.engine.host.file.ChannelFile;
import io.penstock.engine.spi.CallThreads;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ffi.Errno;
import io.penstock.engine.spi.file.HostFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The call of a {@link ChannelQueue} for a request, one object per tag.
 *
 * <p><b>Threading:</b> the I/O queue's thread, except while a thread of {@link CallThreads} owns it.
 */
final class ChannelCall {

    /** How these calls are made. */
    static final CallThreads.Calls<ChannelCall> CALLS = new CallThreads.Calls<>() {
        @Override
        public void make(ChannelCall call) throws IOException {
            call.ended(call.call((ChannelFile) call.request.file()));
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

    private long call(ChannelFile file) throws IOException {
        return switch (request.kind()) {
            case READ -> file.read(request.fileOffset(), buffer());
            case WRITE -> file.write(request.fileOffset(), buffer());
            case SYNC -> file.sync();
            case COPY_IN, COPY_OUT -> throw new IllegalStateException("copies are executed by the I/O queue");
        };
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
    void report() {
        NativeFailure cause = failure;
        failure = null;
        request.end(moved, cause);
    }

    private String name() {
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
