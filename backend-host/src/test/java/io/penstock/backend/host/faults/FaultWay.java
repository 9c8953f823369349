// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.WritePlan;
import io.penstock.file.PartFile;
import io.penstock.tck.Bench;
import io.penstock.tck.Pattern;
import io.penstock.tck.StreamRules;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** An operation on a file by one way: what it needs is opened before the fault. */
final class FaultWay {

    /** The bytes that are written: they differ from the bytes that are there. */
    static final Pattern WRITTEN = new Pattern(77);

    private static final int BYTES = FaultPlace.BYTES;
    private static final int CHUNK = BYTES / 4;

    // Which a cancel does not interrupt: that would close a file channel, for all.
    private static final Scheduler OTHER_THREAD = Schedulers.fromExecutor(call -> new Thread(call, "caller").start());

    private final Bench bench;
    private final FaultCell cell;
    private final Path path;
    private final boolean opens; // by itself
    private final @Nullable StorageFile file;
    private final @Nullable DeviceBuffer buffer;

    FaultWay(Bench bench, FaultCell cell, Path path) {
        this.bench = bench;
        this.cell = cell;
        this.path = path;
        String operation = cell.operation();
        opens = operation.equals("open")
                || operation.equals("rename")
                || (cell.way().equals("stream") && !operation.equals("size") && !operation.equals("truncate"));
        file = opens ? null : bench.openPlain(path, options());
        buffer = operation.equals("read") ? bench.poisoned(BYTES) : bench.filled(BYTES, WRITTEN, 0);
    }

    private FileOption[] options() {
        Set<FileOption> options = EnumSet.of(FileOption.READ);
        if (!cell.operation().matches("open|read|size")) {
            options.add(FileOption.WRITE);
        }
        if (cell.way().equals("direct")) {
            options.add(FileOption.DIRECT);
        }
        return options.toArray(FileOption[]::new);
    }

    /** Returns the operation, which emits its count of bytes: the right bytes, or the length. */
    Mono<Long> operation() {
        return switch (cell.operation()) {
            case "open" -> opens && cell.way().equals("stream") ? streamed() : opened();
            case "size" -> Mono.fromCallable(file()::size).subscribeOn(OTHER_THREAD);
            case "read" -> opens ? streamed() : submitted(Transfer.read(file().region(0, BYTES), memory().all()));
            case "write" ->
                opens ? written(path, false) : submitted(Transfer.write(memory().all(), file().region(0, BYTES)));
            case "sync" ->
                opens
                        ? written(path, true)
                        : submitted(Transfer.write(memory().all(), file().region(0, BYTES)))
                                .flatMap(bytes -> file().sync().thenReturn(bytes));
            case "truncate" -> file().truncate(BYTES / 2).thenReturn(BYTES / 2L);
            case "close" -> opens ? written(path, false) : closed();
            case "rename" -> PartFile.write(path, ByteBuffer.allocate(0), part -> written(part, true));
            default -> throw new IllegalArgumentException("no such operation: " + cell.operation());
        };
    }

    private Mono<Long> opened() {
        return bench.backend().openFile(path, options()).map(opening -> {
            opening.close();
            return (long) BYTES;
        });
    }

    private Mono<Long> submitted(Transfer transfer) {
        return bench.backend().submit(transfer).map(completion -> completion.bytes());
    }

    private Mono<Long> streamed() {
        StreamPlan plan = StreamPlan.of(path).chunkBytes(CHUNK).depth(2);
        Flux<Long> lengths = bench.backend().stream(
                plan, chunk -> StreamRules.isRight(chunk, Pattern.of(path)).map(right -> right ? chunk.length() : -1));
        return lengths.reduce(0L, Long::sum);
    }

    private Mono<Long> written(Path to, boolean syncs) {
        WritePlan plan = WritePlan.to(to, FileOption.WRITE).chunkBytes(CHUNK).depth(2);
        return bench.backend().write(syncs ? plan.sync() : plan, chunk -> {
            ByteBuffer bytes = ByteBuffer.allocateDirect(CHUNK);
            WRITTEN.fill(bytes, chunk.fileOffset());
            long count = chunk.fileOffset() < BYTES ? CHUNK : 0;
            return chunk.region()
                    .buffer()
                    .upload(chunk.region().offset(), bytes.flip())
                    .thenReturn(count);
        });
    }

    private Mono<Long> closed() {
        return submitted(Transfer.write(memory().all(), file().region(0, BYTES)))
                .publishOn(OTHER_THREAD)
                .doOnNext(bytes -> file().close());
    }

    /** Returns the file that was opened. */
    StorageFile file() {
        if (file == null) {
            throw new IllegalStateException(cell + " has opened no file");
        }
        return file;
    }

    boolean hasFile() {
        return file != null;
    }

    /** Returns the memory of the transfer. */
    DeviceBuffer memory() {
        if (buffer == null) {
            throw new IllegalStateException(cell + " has no buffer");
        }
        return buffer;
    }

    /** Closes what it has opened. */
    void close() {
        if (file != null) {
            file.close();
        }
        memory().close();
    }
}
