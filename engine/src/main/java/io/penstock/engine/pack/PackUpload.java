// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.pack;

import io.penstock.PenstockException;
import io.penstock.engine.queue.Port;
import io.penstock.engine.queue.SingleRequest;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The copy of a pack, from host memory to the device: one request. */
final class PackUpload implements SingleRequest {

    private final Port port;
    private final FilePack pack;
    private final DeviceMemory staging;
    private final Runnable ended;
    private final AtomicBoolean over = new AtomicBoolean();

    /** Creates it, for a port that was entered; {@code ended} runs once the pack is filled, or has a failure. */
    PackUpload(Port port, FilePack pack, DeviceMemory staging, Runnable ended) {
        this.port = port;
        this.pack = pack;
        this.staging = staging;
        this.ended = ended;
    }

    void start() {
        port.start(port.pick(port.ioPaths().size() - 1), this);
    }

    @Override
    public void fill(Request request) {
        request.copy(Request.Kind.COPY_IN, staging, 0, pack.used())
                .memory(pack.target().memory(), 0);
    }

    @Override
    public void ended(@Nullable NativeFailure failure) {
        release();
        end(failure == null ? null : Failures.copy(description(), failure, 0));
    }

    private void release() {
        pack.release();
        port.leave();
    }

    private void end(@Nullable Throwable failure) {
        if (over.compareAndSet(false, true)) {
            pack.filled(failure);
            ended.run();
        }
    }

    @Override
    public Port owner() {
        return port;
    }

    @Override
    public String description() {
        return "upload of a " + pack;
    }

    @Override
    public void lose(PenstockException why) {
        end(why);
    }

    @Override
    public void refuse(PenstockException why) {
        release();
        end(why);
    }
}
