// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

import io.penstock.DeviceFence;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.Wakeup;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Another path, with {@link HeldCommands} in front of its queues. */
public record HoldingPath(IoPath ioPath) implements IoPath {

    /** Separates its I/O queues from the I/O queues of the path itself. */
    private record Sharing(Object held) {}

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        NativeFile file = ioPath.open(path, options);
        HeldCommands.opened(path, file);
        return file;
    }

    @Override
    public NativeQueue openQueue() {
        return new Queue(ioPath.openQueue());
    }

    @Override
    public Object sharing() {
        return new Sharing(ioPath.sharing());
    }

    @Override
    public TransferPath path() {
        return ioPath.path();
    }

    @Override
    public Evidence evidence() {
        return ioPath.evidence();
    }

    @Override
    public String reason() {
        return ioPath.reason();
    }

    @Override
    public String remedy() {
        return ioPath.remedy();
    }

    @Override
    public String refusal(NativeFile file, Target target, DeviceMemory memory) {
        return ioPath.refusal(file, target, memory);
    }

    @Override
    public String refusal(Transfer transfer) {
        return ioPath.refusal(transfer);
    }

    @Override
    public String refusal(NativeFile file, long fileOffset, long bytes) {
        return ioPath.refusal(file, fileOffset, bytes);
    }

    @Override
    public void skipped(NativeFile file, DeviceMemory memory, Transfer transfer, int part) {
        ioPath.skipped(file, memory, transfer, part);
    }

    @Override
    public boolean awaits(Transfer transfer, FencePoint point, DeviceFence fence) {
        return ioPath.awaits(transfer, point, fence);
    }

    @Override
    public TransferPath copies(DeviceMemory from, DeviceMemory to) {
        return ioPath.copies(from, to);
    }

    @Override
    public int ioQueues() {
        return ioPath.ioQueues();
    }

    @Override
    public DeviceMemory allocateBounceBuffer(long bytes) {
        return ioPath.allocateBounceBuffer(bytes);
    }

    /** A queue whose requests may have to wait. */
    private static final class Queue implements NativeQueue, Request.Completion {

        private final NativeQueue queue;
        private final Request[] passed; // by tag: what the queue gets for the engine's requests
        private final Request[] requests; // by tag
        private final Set<Request> held = new LinkedHashSet<>(); // I/O queue only

        Queue(NativeQueue queue) {
            this.queue = queue;
            this.passed = new Request[queue.depth()];
            this.requests = new Request[queue.depth()];
            Arrays.setAll(passed, tag -> new Request(tag, this));
        }

        @Override
        public int depth() {
            return queue.depth();
        }

        @Override
        public void enqueue(Request request) {
            if (HeldCommands.hold(request, this)) {
                held.add(request);
            } else {
                pass(request);
            }
        }

        private void pass(Request request) {
            requests[request.tag()] = request;
            queue.enqueue(passed[request.tag()].as(request));
        }

        @Override
        public void cancel(Request request) {
            if (!held.contains(request)) { // one that is held cannot be stopped
                queue.cancel(passed[request.tag()]);
            }
        }

        @Override
        public void turn(long waitNanos) {
            for (Iterator<Request> all = held.iterator(); all.hasNext(); ) {
                Request next = all.next();
                if (!HeldCommands.hold(next, this)) {
                    all.remove();
                    pass(next);
                }
            }
            queue.turn(waitNanos);
        }

        @Override
        public void ended(Request done, long bytes, @Nullable NativeFailure failure) {
            Request request = requests[done.tag()];
            if (failure == null) {
                HeldCommands.ended(request, bytes);
            }
            request.end(bytes, failure);
        }

        @Override
        public Wakeup wakeup() {
            return queue.wakeup();
        }

        @Override
        public void close() {
            queue.close();
        }
    }
}
