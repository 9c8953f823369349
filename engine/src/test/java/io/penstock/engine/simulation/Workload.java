// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.DeviceLostException;
import io.penstock.FileOption;
import io.penstock.NativeError;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.Transfer;
import io.penstock.engine.SteppedQueues;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.simulation.TestFile.Handle;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The application: opens files and buffers, and uses them in every way, by chance. */
final class Workload {
    private static final int BUFFERS = 4;
    private static final Duration HOUR = Duration.ofHours(1);

    final World world;
    final Chance chance;
    final Backend backend;
    final Attempts attempts;
    private final SimulatedKernel kernel;
    private final List<Watch<?>> watches = new ArrayList<>();
    private final List<Attempt> cancelled = new ArrayList<>();
    private final Pipelines pipelines;
    private final Fences fences;
    private final Calls calls;
    private final int haste; // the longest rest
    private int actions;
    private int keys;
    private boolean closing;

    Workload(World world, SimulatedKernel kernel, Backend backend) {
        this.world = world;
        this.chance = world.chance;
        this.kernel = kernel;
        this.backend = backend;
        attempts = new Attempts(chance);
        pipelines = new Pipelines(this);
        fences = new Fences(this);
        calls = new Calls(this);
        haste = chance.pick(List.of(1, 1, 300, 3000));
        actions = chance.oneIn(40) ? 150 : chance.between(3, 30);
    }

    // To begin with.

    void open(TestFile file) {
        attempts.files.add(file);
        for (int i = chance.between(1, 2); i > 0; i--) {
            openAgain(file);
        }
    }

    private void openAgain(TestFile file) {
        Set<FileOption> options =
                file.spots.isEmpty() ? Set.of(FileOption.READ) : Set.of(FileOption.READ, FileOption.WRITE);
        if (Math.max(file.simulated.fileAlignment, file.simulated.memoryAlignment) > 1 && !chance.oneIn(8)) {
            options = new TreeSet<>(options);
            options.add(FileOption.DIRECT);
        }
        watch(
                "open " + file.simulated.name,
                backend.openFile(kernel.path(file.simulated), options.toArray(new FileOption[0])),
                opened -> file.handles.add(new Handle(file, opened)));
    }

    void allocate() {
        for (int i = 0; i < BUFFERS; i++) {
            watch(
                    "allocate",
                    backend.allocate(TestBuffer.BYTES),
                    buffer -> attempts.buffers.add(new TestBuffer(buffer, chance)));
        }
    }

    private <T> void watch(String what, Mono<T> mono, Consumer<T> values) {
        Watch<T> watch = new Watch<>(world, what, values, e -> expect(what, e, null));
        watch.mayBeCancelled = false;
        watches.add(watch);
        mono.subscribe(watch);
    }

    // Step by step.

    /** Does something; returns whether there is more to do. */
    boolean step() {
        if (actions-- == 0) {
            return false;
        }
        if (chance.oneIn(3)) {
            world.rest(chance.below(haste)); // so that some of it arrives while other ends
        }
        int what = chance.below(100);
        if (chance.oneIn(40)) {
            shorten();
        } else if (chance.oneIn(25)) {
            calls.begin();
        } else if (what < 26) {
            transfer(true);
        } else if (what < 51) {
            transfer(false);
        } else if (what < 55) {
            Attempt gather = attempts.newGather();
            if (gather != null) {
                submit(gather, gather.gather());
            }
        } else if (what < 65) {
            cancelSome();
        } else if (what < 71) {
            reuse();
        } else if (what < 76) {
            ordered();
        } else if (what < 82) {
            sync();
        } else if (what < 88) {
            append();
        } else if (what < 91) {
            fences.begin();
        } else if (what < 94) {
            openAndDrop();
        } else if (what < 98) {
            pipelines.begin();
        } else if (what < 99) {
            closeSomething();
        } else {
            openAgain(chance.pick(attempts.files));
        }
        return true;
    }

    private void transfer(boolean read) {
        Attempt attempt = read ? attempts.newRead() : attempts.newWrite();
        if (attempt == null) {
            return;
        }
        Transfer transfer = attempt.transfer();
        if (chance.oneIn(8)) {
            attempt.hasDeadline = true;
            // One of an hour is kept; the clock does not go there unless a transfer waits for it nevertheless.
            transfer = transfer.deadline(chance.oneIn(3) ? HOUR : Duration.ofNanos(chance.between(1, 50_000)));
        }
        submit(attempt, transfer);
    }

    void submit(Attempt attempt, Transfer transfer) {
        Watch<Completion> watch = new Watch<>(world, attempt.toString(), attempt::succeed, e -> {
            if (e != null) {
                attempt.fail(e);
                expect(attempt.toString(), e, attempt);
            }
        });
        watches.add(watch);
        attempt.watchedBy(watch);
        attempt.begin();
        attempt.accepted();
        backend.submit(transfer).subscribe(watch);
        if (chance.oneIn(6)) {
            world.later(chance.below(2000), () -> cancel(watch, attempt));
        }
    }

    void cancel(Watch<?> watch, Attempt attempt) {
        if (watch.isOpen()) {
            watch.cancel();
            cancelled.add(attempt);
        }
    }

    void maybeCancel(Watch<?> watch) {
        if (chance.oneIn(4)) {
            world.later(chance.below(20_000), watch::cancel);
        }
    }

    private void cancelSome() {
        Watch<?> watch = chance.pick(watches);
        if (watch.mayBeCancelled) {
            watch.cancel();
        }
    }

    /** Writes where a cancelled transfer may still write: what lands last must be the later one (rule 205). */
    private void reuse() {
        if (cancelled.isEmpty()) {
            return;
        }
        Attempt before = chance.pick(cancelled);
        Attempt attempt = before.isCancelled() ? attempts.again(before) : null;
        if (attempt != null) {
            submit(attempt, attempt.transfer());
        }
    }

    /** Several writes to one place, one after the other by their key. */
    private void ordered() {
        Handle handle = attempts.someHandle(true);
        if (handle == null) {
            return;
        }
        Place spot = chance.pick(handle.of.spots);
        Object key = "key " + keys++;
        for (int i = spot.isFree() ? chance.between(2, 4) : 0; i > 0; i--) {
            Attempt attempt = new Attempt(handle, false);
            if (attempts.addWrite(attempt, spot)) {
                submit(attempt, attempt.transfer().ordered(key));
            }
        }
    }

    /** Several writes that touch each other, front to back, as of a stream that lengthens its file. */
    private void append() {
        Handle handle = attempts.someHandle(true);
        if (handle == null) {
            return;
        }
        int spread = chance.pick(List.of(1, 300, 3000));
        long at = 0;
        for (Place spot : handle.of.spots) {
            if (spot.offset + spot.bytes > handle.of.readable) {
                at += chance.below(spread);
                world.later(at, () -> writeIfFree(handle, spot));
            }
        }
    }

    private void writeIfFree(Handle handle, Place spot) {
        Attempt attempt = new Attempt(handle, false);
        if (spot.isFree() && attempts.addWrite(attempt, spot)) {
            submit(attempt, attempt.transfer());
        }
    }

    /** Another process cuts a file that nobody writes, while it is read. */
    private void shorten() {
        TestFile file = chance.pick(attempts.files);
        if (file.spots.isEmpty()) {
            world.later(chance.below(4000), () -> file.shorten(1 + chance.below(file.readable)));
        }
    }

    private void sync() {
        Handle handle = attempts.someHandle(true);
        if (handle == null) {
            return;
        }
        List<Attempt> covered = List.copyOf(handle.writes);
        boolean hadFailed = handle.syncHasFailed;
        String what = "sync of " + handle.of.simulated.name;
        Watch<Void> watch = new Watch<>(world, what, nothing -> {}, e -> {
            if (e != null) {
                handle.syncHasFailed = true;
                expect(what, e, null);
            } else if (hadFailed) {
                throw new Violation("403: a sync succeeded after one that had failed");
            } else {
                covered.forEach(Attempt::mustBeDurable);
            }
        });
        watches.add(watch);
        handle.file.sync().subscribe(watch);
    }

    private void closeSomething() {
        closing = true; // from now on, what uses it may be refused
        Handle handle = attempts.someHandle(false);
        if (handle != null && chance.oneIn(2)) {
            world.say("application: closes", handle.of.simulated.name);
            handle.of.handles.remove(handle);
            handle.file.close();
        } else {
            chance.pick(attempts.buffers).close();
        }
    }

    /** Opens a file or allocates memory, and cancels that at any moment; what comes nevertheless is closed. */
    private void openAndDrop() {
        TestFile file = chance.pick(attempts.files);
        Mono<? extends AutoCloseable> opening = chance.oneIn(2)
                ? backend.allocate(1 + chance.below(10_000))
                : backend.openFile(kernel.path(file.simulated));
        Watch<AutoCloseable> watch = new Watch<>(
                world,
                "opening that is dropped",
                opened -> world.later(chance.below(3000), () -> close(opened)),
                e -> expect("opening that is dropped", e, null));
        watches.add(watch);
        opening.subscribe(watch);
        world.later(chance.below(7000), watch::cancel);
    }

    private void close(AutoCloseable opened) {
        try {
            opened.close();
        } catch (Exception e) {
            world.fail(e);
        }
    }

    // In the end.

    /** When all are idle: only what the application holds is open. */
    void checkAtRest(int ioPaths) {
        int handles =
                attempts.files.stream().mapToInt(file -> file.handles.size()).sum();
        int open = kernel.files.openCount(); // what one path could not open goes by the other
        if (kernel.hasFailed() ? open < handles || open > handles * ioPaths : open != handles * ioPaths) {
            throw new Violation("202: " + open + " descriptors, of " + handles + " files on " + ioPaths + " paths");
        }
        long buffers =
                attempts.buffers.stream().filter(buffer -> !buffer.isClosed()).count();
        long kept = pipelines.streams.keptChunks();
        if (kernel.memory.live() != buffers + kept) {
            throw new Violation("202: " + kernel.memory.live() + " blocks of memory, of " + buffers + " buffers and "
                    + kept + " chunks");
        }
        String known = SteppedQueues.known(backend);
        if (!known.isEmpty()) {
            throw new Violation("102: at rest there are " + known);
        }
        if (world.now() >= HOUR.toNanos()) {
            throw new Violation("205: an I/O queue waits for the deadline of a transfer that has ended");
        }
    }

    void begin(Watch<?> watch) {
        watches.add(watch);
    }

    void close() {
        closing = true;
        attempts.buffers.forEach(TestBuffer::closesWithTheBackend);
        Watch<Void> watch = new Watch<>(world, "close", nothing -> {}, e -> expect("close", e, null));
        watches.add(watch);
        Flux.from(backend.closeLater()).subscribe(watch);
    }

    /** Closes the leases that are kept beyond the backend's end. */
    void closeLeases() {
        pipelines.streams.closeLeases();
    }

    /** Fails unless an error has a reason. */
    void expect(String what, @Nullable Throwable error, @Nullable Attempt attempt) {
        boolean explained = error == null
                || (error instanceof IOException && kernel.hasFailed() && attempt == null) // of openFile
                || (error instanceof PenstockException e
                        && (isOfTheKernel(e, attempt)
                                || (attempt != null
                                        && attempt.hasDeadline
                                        && e.getMessage().contains("its deadline of"))
                                || (world.hasBroken() && (e instanceof DeviceLostException || isBehindALostWrite(e)))
                                || (closing && e instanceof ClosedException)));
        if (!explained) {
            world.fail(error);
            throw new Violation(what + " failed without a reason: " + error);
        }
    }

    private static boolean isBehindALostWrite(PenstockException error) {
        return error instanceof PermanentStorageException
                && error.getMessage().contains("a write of the same blocks was lost with its I/O queue");
    }

    private boolean isOfTheKernel(PenstockException error, @Nullable Attempt attempt) {
        if (attempt == null) {
            return kernel.hasFailed();
        }
        NativeError answer = error.nativeError().orElse(null);
        long errno = answer != null ? answer.code() : error.getCause() instanceof IOException ? Errno.EIO : 0;
        return kernel.hasFailed(attempt.handle.of.simulated, errno);
    }

    void checkEnded() {
        for (Watch<?> watch : watches) {
            if (watch.isOpen()) {
                throw new Violation("101: no end of: " + watch.what);
            }
        }
    }

    void checkContent() {
        attempts.files.forEach(TestFile::check);
    }
}
