// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.pack;

import io.penstock.DeviceBuffer;
import io.penstock.Pack;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.queue.Port;
import io.penstock.engine.resource.Failures;
import io.penstock.file.DirectorySync;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * The writing of one pack: {@link io.penstock.Backend#unpack}. Its files are divided among a few calls, the last of
 * which closes the pack.
 */
public final class Unpacking {

    private static final int PACKS = 2; // one is filled or fetched while the other is written
    private static final int FEWEST_FILES = 32; // of a call, which is to be worth its thread

    private final Port port;
    private final Pack pack;
    private final Pack.Writing how;
    private final ByteBuffer bytes;
    private final @Nullable Slab slab; // that has the bytes, if the processor cannot address the buffer
    private final MonoSink<List<Pack.Entry>> sink;
    private final Pack.Entry[] written;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final AtomicInteger calls = new AtomicInteger();
    private volatile boolean cancelled;

    private Unpacking(
            Port port,
            Pack pack,
            Pack.Writing how,
            ByteBuffer bytes,
            @Nullable Slab slab,
            MonoSink<List<Pack.Entry>> sink) {
        this.port = port;
        this.pack = pack;
        this.how = how;
        this.bytes = bytes;
        this.slab = slab;
        this.sink = sink;
        this.written = pack.entries().toArray(Pack.Entry[]::new);
    }

    /** Returns the entries of packs, written. */
    public static Flux<Pack.Entry> of(Port port, Publisher<? extends Pack> packs, Pack.Writing how) {
        Objects.requireNonNull(how, "how");
        return Flux.<Pack>from(packs)
                .flatMap(pack -> port.deliver(of(port, pack, how)).flatMapIterable(entries -> entries), PACKS)
                .doOnDiscard(Pack.class, Pack::close);
    }

    private static Mono<List<Pack.Entry>> of(Port port, Pack pack, Pack.Writing how) {
        return Mono.create(sink -> {
            if (!port.enter()) {
                pack.close();
                sink.error(Failures.closed("writing of files", "the backend"));
                return;
            }
            try {
                begin(port, pack, how, sink);
            } catch (RuntimeException | Error e) { // of a buffer that is closed, or with no memory for its bytes
                end(port, pack, null);
                sink.error(e);
            }
        });
    }

    private static void begin(Port port, Pack pack, Pack.Writing how, MonoSink<List<Pack.Entry>> sink) {
        DeviceBuffer buffer = pack.buffer();
        long end = pack.entries().stream()
                .mapToLong(entry -> entry.offset() + entry.length())
                .max()
                .orElse(0);
        if (end > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "the files of a pack must end within its first " + Integer.MAX_VALUE + " bytes, ended at " + end);
        }
        int length = (int) end;
        if (buffer.hostView().isPresent()) {
            ByteBuffer bytes = buffer.hostView().get().buffer(0, length);
            new Unpacking(port, pack, how, bytes, null, sink).begin();
            return;
        }
        Slab slab = Slabs.shared().allocate(Math.max(1, length));
        ByteBuffer bytes = slab.buffer(0, length);
        Unpacking unpacking = new Unpacking(port, pack, how, bytes, slab, sink);
        try {
            buffer.download(0, bytes).subscribe(count -> {}, unpacking::fail, unpacking::begin);
        } catch (RuntimeException | Error e) { // of entries outside of the buffer
            slab.free();
            throw e;
        }
    }

    private static void end(Port port, Pack pack, @Nullable Slab slab) {
        try (pack) {
            if (slab != null) {
                slab.free();
            }
        } finally {
            port.leave();
        }
    }

    private void fail(Throwable cause) {
        end(port, pack, slab);
        sink.error(cause);
    }

    private void begin() {
        sink.onCancel(() -> cancelled = true);
        int threads = Math.max(1, Math.min(written.length / FEWEST_FILES, processors()));
        int part = (written.length + threads - 1) / threads;
        calls.set(threads);
        Path first = written.length == 0 ? Path.of("") : written[0].path();
        for (int i = 0; i < threads; i++) {
            int from = Math.min(i * part, written.length);
            int to = Math.min(from + part, written.length);
            try {
                port.fileThreads().run(first, () -> write(from, to));
            } catch (RuntimeException | Error refused) { // such as no more threads
                failure.compareAndSet(null, refused);
                ended();
            }
        }
    }

    private static int processors() {
        return Runtime.getRuntime().availableProcessors();
    }

    private void write(int from, int to) {
        try {
            for (int i = from; i < to && !cancelled; i++) {
                Pack.Entry entry = written[i];
                if (entry.error() == null) {
                    written[i] = WholeWrite.of(entry, bytes, how);
                }
            }
        } catch (RuntimeException | Error e) {
            failure.compareAndSet(null, e);
        } finally {
            ended();
        }
    }

    private void ended() {
        if (calls.decrementAndGet() > 0) {
            return;
        }
        try {
            if (how.syncs() && !cancelled) {
                syncFolders();
            }
        } catch (Exception e) {
            failure.compareAndSet(null, e);
        }
        end(port, pack, slab);
        Throwable cause = failure.get();
        if (cause == null) {
            sink.success(List.of(written));
        } else {
            sink.error(cause);
        }
    }

    private void syncFolders() throws Exception {
        Set<Path> folders = new LinkedHashSet<>();
        for (Pack.Entry entry : written) {
            if (entry.error() == null) {
                folders.add(Objects.requireNonNull(entry.path().toAbsolutePath().getParent()));
            }
        }
        for (Path folder : folders) {
            DirectorySync.force(folder);
        }
    }
}
