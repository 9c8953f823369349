// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.FileOption;
import io.penstock.PenstockException;
import io.penstock.Transfer;
import io.penstock.engine.simulation.TestFile.Handle;
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

    final World world;
    final Chance chance;
    final Backend backend;
    final Attempts attempts;
    private final SimulatedKernel kernel;
    private final List<Watch<?>> watches = new ArrayList<>();
    private final List<Attempt> cancelled = new ArrayList<>();
    private final Pipelines pipelines;
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
                backend.openFile(SimulatedFiles.path(file.simulated), options.toArray(new FileOption[0])),
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
        if (what < 28) {
            transfer(true);
        } else if (what < 55) {
            transfer(false);
        } else if (what < 60) {
            Attempt gather = attempts.newGather();
            if (gather != null) {
                submit(gather, gather.gather());
            }
        } else if (what < 70) {
            cancelSome();
        } else if (what < 76) {
            reuse();
        } else if (what < 81) {
            ordered();
        } else if (what < 88) {
            sync();
        } else if (what < 93) {
            append();
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
            transfer = transfer.deadline(Duration.ofNanos(chance.between(1, 50_000)));
        }
        submit(attempt, transfer);
    }

    private void submit(Attempt attempt, Transfer transfer) {
        Watch<Completion> watch = new Watch<>(world, attempt.toString(), attempt::succeed, e -> {
            if (e != null) {
                attempt.fail();
                expect(attempt.toString(), e, attempt);
            }
        });
        watches.add(watch);
        attempt.watchedBy(watch);
        attempt.begin();
        backend.submit(transfer).subscribe(watch);
        if (chance.oneIn(6)) {
            world.later(chance.below(2000), () -> cancel(watch, attempt));
        }
    }

    private void cancel(Watch<?> watch, Attempt attempt) {
        if (watch.isOpen()) {
            watch.cancel();
            cancelled.add(attempt);
        }
    }

    private void cancelSome() {
        Watch<?> watch = chance.pick(watches);
        if (watch.isOpen() && !watch.what.startsWith("open") && !watch.what.equals("allocate")) {
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

    // In the end.

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

    /** Fails unless an error has a reason. */
    void expect(String what, @Nullable Throwable error, @Nullable Attempt attempt) {
        boolean explained = error == null
                || (error instanceof PenstockException
                        && (kernel.errors() > 0
                                || (attempt != null && attempt.hasDeadline)
                                || (closing && error instanceof ClosedException)));
        if (!explained) {
            world.fail(error);
            throw new Violation(what + " failed without a reason: " + error);
        }
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
