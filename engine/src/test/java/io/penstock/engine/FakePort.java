// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.Evidence;
import io.penstock.Failure;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import io.penstock.engine.queue.IoQueue;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.queue.Port;
import io.penstock.engine.queue.Segment;
import io.penstock.engine.queue.SingleRequest;
import io.penstock.engine.queue.TransferListeners;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.resource.OpenResources;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.IoPath;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** An engine whose transfers the test ends, when and as it likes. */
public class FakePort implements Port {

    /** What completions name as their path, and no more. */
    public static final IoPath PATH = (IoPath) Proxy.newProxyInstance(
            IoPath.class.getClassLoader(), new Class<?>[] {IoPath.class}, (self, method, arguments) -> {
                return switch (method.getName()) {
                    case "path" -> TransferPath.HOST;
                    case "mostCachedBytes" -> 0L;
                    case "evidence" -> Evidence.OBSERVED;
                    case "reason", "toString" -> "";
                    default -> throw new UnsupportedOperationException(method.getName());
                };
            });

    public final ManualScheduler manual = new ManualScheduler();
    public final List<OpenTransfer> open = new ArrayList<>();
    public final List<FakeBuffer> buffers = new ArrayList<>();
    public final FakeFile file;
    public final TransferListeners listeners = new TransferListeners();
    public Scheduler scheduler = manual;
    public Mono<StorageFile> opened;
    public boolean direct;
    public boolean visible = true;
    public boolean poisoning;
    public int most = Integer.MAX_VALUE; // buffers
    public int opens;
    public int losses; // of the device
    public int mostOpen;

    public FakePort(int fileSize) {
        file = new FakeFile(fileSize);
        opened = Mono.just(file);
    }

    public FakePort direct() {
        direct = true;
        return this;
    }

    @Override
    public TransferListeners listeners() {
        return listeners;
    }

    @Override
    public Mono<StorageFile> openFile(Path path, Set<FileOption> options) {
        return opened;
    }

    @Override
    public String name() {
        return "fake";
    }

    @Override
    public boolean enter() {
        return true;
    }

    @Override
    public boolean enterWhileOpen() {
        return true;
    }

    @Override
    public Mono<Long> upload(EngineBuffer buffer, long offset, ByteBuffer from) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Mono<Long> download(EngineBuffer buffer, long offset, ByteBuffer to) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void leave() {}

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public void left(OpenTransfer transfer) {}

    @Override
    public void lost(OpenTransfer transfer) {}

    @Override
    public void deviceLost() {
        losses++;
    }

    @Override
    public OpenResources resources() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Mono<Void> sync(EngineFile of) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Mono<Long> downloadPinned(EngineBuffer buffer, long offset, ByteBuffer to) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void start(IoQueue ioQueue, SingleRequest request) {
        throw new UnsupportedOperationException();
    }

    @Override
    public IoQueue pick(int ioPath) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<IoPath> ioPaths() {
        throw new UnsupportedOperationException();
    }

    @Override
    public DeviceDriver driver() {
        throw new UnsupportedOperationException();
    }

    @Override
    public DeviceBuffer allocateNow(long bytes) {
        if (buffers.size() == most) {
            throw new TransientStorageException("no memory left", Failure.NOT_STARTED, null);
        }
        FakeBuffer buffer = new FakeBuffer(Math.toIntExact(bytes), visible);
        buffers.add(buffer);
        return buffer;
    }

    @Override
    public Scheduler scheduler() {
        return scheduler;
    }

    @Override
    public boolean isDirectDelivery() {
        return direct;
    }

    @Override
    public Scheduler batchScheduler() {
        return scheduler;
    }

    @Override
    public boolean isPoisoning() {
        return poisoning;
    }

    @Override
    public boolean isDetectingLeaks() {
        return false;
    }

    @Override
    public void open(OpenTransfer transfer) {
        transfer.admit(PATH, 0, null);
        opens++;
        open.add(transfer);
        mostOpen = Math.max(mostOpen, open.size());
    }

    /** Ends the transfer that was opened first of the transfers still open. */
    public void end() {
        end(0);
    }

    /** Ends an open transfer, counted from the oldest, with all the bytes that there are. */
    public void end(int index) {
        OpenTransfer ending = open.remove(index);
        Transfer transfer = ending.transfer();
        long offset = transfer.fileOffset(0);
        BufferRegion region = (BufferRegion) transfer.target(0);
        byte[] memory = region.buffer() instanceof FakeBuffer buffer ? buffer.bytes : new byte[0];
        long moved = transfer.length();
        if (transfer.isRead()) {
            moved = Math.max(0, Math.min(moved, file.size - offset));
            System.arraycopy(
                    file.bytes, (int) offset, memory, (int) region.offset(), (int) Math.min(memory.length, moved));
        } else {
            System.arraycopy(memory, (int) region.offset(), file.bytes, (int) offset, (int) moved);
            file.size = Math.max(file.size, (int) (offset + moved));
        }
        Segment segment = new Segment(0, null);
        segment.pair = 0;
        segment.pairCount = 1;
        segment.fileOffset = offset;
        segment.bytes = transfer.length();
        segment.moved = moved;
        ending.segmentEnded(segment);
        ending.finish(0);
    }

    /** Ends an open transfer in error. */
    public void fail(int index, Throwable error) {
        OpenTransfer ending = open.remove(index);
        ending.fail(error);
        ending.finish(0);
    }

    /** Ends everything that is open, and what gets open thereby. */
    public void endAll() {
        while (!open.isEmpty()) {
            end();
        }
    }

    /** Ends and delivers until nothing moves any more. */
    public void runAll() {
        do {
            manual.run();
            endAll();
        } while (manual.pending() > 0 || !open.isEmpty());
    }

    public long live() {
        return buffers.stream().filter(buffer -> !buffer.closed).count();
    }
}
