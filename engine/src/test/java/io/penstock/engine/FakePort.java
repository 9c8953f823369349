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
import io.penstock.engine.spi.Route;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** An engine whose transfers end when, and as, the test says. */
final class FakePort implements Port {

    /** What completions name as their route, and no more. */
    static final Route ROUTE = (Route) Proxy.newProxyInstance(
            Route.class.getClassLoader(), new Class<?>[] {Route.class}, (self, method, arguments) -> {
                return switch (method.getName()) {
                    case "path" -> TransferPath.HOST;
                    case "evidence" -> Evidence.OBSERVED;
                    case "reason", "toString" -> "";
                    default -> throw new UnsupportedOperationException(method.getName());
                };
            });

    final ManualScheduler manual = new ManualScheduler();
    final List<OpenTransfer> open = new ArrayList<>();
    final List<FakeBuffer> buffers = new ArrayList<>();
    final FakeFile file;
    Scheduler scheduler = manual;
    Mono<StorageFile> opened;
    boolean direct;
    boolean visible = true;
    boolean poisoning;
    int most = Integer.MAX_VALUE; // buffers
    int opens;
    int mostOpen;

    FakePort(int fileSize) {
        file = new FakeFile(fileSize);
        opened = Mono.just(file);
    }

    FakePort direct() {
        direct = true;
        return this;
    }

    @Override
    public Mono<StorageFile> openFile(Path path, Set<FileOption> options) {
        return opened;
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
    public boolean isPoisoning() {
        return poisoning;
    }

    @Override
    public boolean isDetectingLeaks() {
        return false;
    }

    @Override
    public void open(OpenTransfer transfer) {
        transfer.admit(ROUTE, 0, null);
        opens++;
        open.add(transfer);
        mostOpen = Math.max(mostOpen, open.size());
    }

    /** Ends the transfer that was opened first of those still open. */
    void end() {
        end(0);
    }

    /** Ends one of those that are open, counted from the oldest, with all the bytes that there are. */
    void end(int index) {
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
        Flight flight = new Flight(0, null);
        flight.pair = 0;
        flight.pairCount = 1;
        flight.fileOffset = offset;
        flight.bytes = transfer.length();
        flight.moved = moved;
        ending.pieceEnded(flight);
        ending.finish(0);
    }

    /** Ends one of those that are open, in error. */
    void fail(int index, Throwable error) {
        OpenTransfer ending = open.remove(index);
        ending.fail(error);
        ending.finish(0);
    }

    /** Ends everything that is open, and what gets open thereby. */
    void endAll() {
        while (!open.isEmpty()) {
            end();
        }
    }

    /** Ends and delivers until nothing moves any more. */
    void runAll() {
        do {
            manual.run();
            endAll();
        } while (manual.pending() > 0 || !open.isEmpty());
    }

    long live() {
        return buffers.stream().filter(buffer -> !buffer.closed).count();
    }
}
